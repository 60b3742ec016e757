#include "methods/common/dynamic_steps.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/errors.h"

namespace longhaul {
namespace {

bool is_asked_for(const Case& config) {
  return config.method.options.value("dynamic_steps", false);
}

}  // namespace

Node dynamic_steps_option() {
  return boolean("dynamic_steps")
      .by_default(false)
      .later()
      .means(
          "true: of the H steps of a round a replica takes floor(H · t_min / t), at least 1, t its step by "
          "workload.step_time_factors, so that all end together; false: all take H");
}

DynamicSteps dynamic_steps_of(const Case& config) {
  if (!is_asked_for(config)) return {};
  const int every = config.method.options.at("inner_steps");
  if (every < 1)  // of a case.json that no longhaul has written
    throw InputError("method.inner_steps", fmt::format("found {}", every), "at least 1");
  return dynamic_steps(every, config.workload.step_time_factors);
}

std::vector<std::string> dynamic_steps_warnings(const Case& config) {
  if (!is_asked_for(config)) return {};
  const DynamicSteps steps = dynamic_steps_of(config);
  if (!steps.is_on() && config.swept.contains("workload.step_time_factors")) return {};
  if (!steps.is_on())
    return {config.name + ": dynamic_steps changes nothing, since all replicas are equally fast"};
  const std::vector<double>& times = config.workload.step_time_factors;
  const double round = steps.every * *std::min_element(times.begin(), times.end());
  const auto late =
      std::find_if(times.begin(), times.end(), [round](double time) { return time > round * (1 + 1e-12); });
  std::vector<std::string> found;
  if (late != times.end())
    found.push_back(fmt::format(
        "{}: a step of replica {} takes longer than {} of the fastest one, so that all wait for it in "
        "each round; a larger inner_steps helps",
        config.name, late - times.begin(), steps.every));
  if (const Json total = member(member(config.resolved, "workload"), "total_tokens"); !total.is_null())
    found.push_back(fmt::format(
        "{}: dynamic_steps train on {} of the {} of workload.total_tokens, since slow replicas leave steps "
        "out; give workload.steps for as many",
        config.name, steps.taken_by_all(config.replicas, config.steps()) * config.workload.tokens,
        total.get<std::int64_t>()));
  return found;
}

}  // namespace longhaul
