#include "checks/claimed_metrics.h"

#include <fmt/core.h>

#include <functional>
#include <string>
#include <vector>

#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/ranges.h"
#include "core/scenario/metrics.h"

namespace longhaul {
namespace {

void check_trained_metrics(const Json& claims) {
  for (std::size_t i = 0; i < claims.size(); ++i)
    for (const char* key : {"metric", "ratio"})
      if (const Json metric = member(claims[i], key);
          metric.is_string() && follows_from_training(metric_named(metric)))
        throw InputError(child_path(element_path("claims", i), key),
                         fmt::format("found \"{}\", but nothing is trained", plain(metric)),
                         "a number of the network, as sync_time_s.mean", "or add a train section");
}

// Numbers that only some cases have, by the name before the point, and what they need.
struct Conditional {
  std::vector<std::string> metrics;
  std::function<bool(const Case&)> is_in;
  std::string needs, nothing;
};

const std::vector<Conditional>& conditionals() {
  static const std::vector<Conditional> all = {
      {{"tokens_per_s", "bytes_per_token", "goodput_tokens_per_s"},
       [](const Case& one) { return one.workload.tokens > 0; },
       "workload.tokens, or a train section",
       "no case has tokens"},
      {{"refit_time_s", "staleness", "batch_wait_s", "batch_wait_time_s", "rollout_idle_fraction",
        "rollout_slot_use", "samples_per_s", "versions", "bytes_per_version", "egress_bytes",
        "rollout_accelerator_hours"},
       [](const Case& one) { return one.rollouts.has_value(); },
       "a section rollouts",
       "no case has rollouts"},
      {{"bubble_fraction", "bubble_time_s", "stage_wait_fraction", "stage_wait_time_s", "boundary_bits"},
       [](const Case& one) { return one.pipeline.has_stages(); },
       "pipeline.stages above 1",
       "no case has stages"},
      {{"inside_wait_fraction", "inside_wait_time_s"},
       [](const Case& one) { return one.parallelism.is_on(); },
       "a section parallelism",
       "no replicas exchange inside a step"},
      {{"crashes", "participation", "recovery_s", "recovery_bytes", "committed_fraction",
        "discarded_exchanges"},
       [](const Case& one) { return one.has_absences(); },
       "a fault of kind crash",
       "no fault makes a replica leave"}};
  return all;
}

// A claim on a number that no case can have would stay undecided.
void check_conditional_metrics(const Scenario& scenario) {
  const Json claims = scenario.resolved.value("claims", Json::array());
  for (std::size_t i = 0; i < claims.size(); ++i)
    for (const char* key : {"metric", "ratio"}) {
      const Json metric = member(claims[i], key);
      if (!metric.is_string()) continue;
      const std::string text = metric, name = text.substr(0, text.find('.'));
      for (const Conditional& one : conditionals())
        if (contains(one.metrics, name) && none_of(scenario.cases, one.is_in))
          throw InputError(child_path(element_path("claims", i), key),
                           fmt::format("found \"{}\", but {}", text, one.nothing),
                           "a number that cases have, as sync_time_s.mean", "or add " + one.needs);
    }
}

}  // namespace

void check_claimed_metrics(const Scenario& scenario) {
  if (!scenario.resolved.contains("train"))
    check_trained_metrics(scenario.resolved.value("claims", Json::array()));
  check_conditional_metrics(scenario);
}

}  // namespace longhaul
