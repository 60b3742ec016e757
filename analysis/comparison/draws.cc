#include "analysis/comparison/draws.h"

#include <algorithm>

#include "analysis/text.h"
#include "methods/common/registry.h"

namespace longhaul {
namespace {

bool has_random_times(const FaultTimes& times) {
  return times.every_s > 0;
}

template <typename Faults>
bool any_random(const Faults& faults) {
  return std::any_of(faults.begin(), faults.end(),
                     [](const auto& fault) { return has_random_times(fault.times); });
}

bool draws_groups(const OperationRule& rule, int replicas) {
  if (has_targets(rule.grouping)) return rule.group_size < replicas - 1;
  if (rule.grouping == Grouping::kRandom) return rule.group_size < replicas;
  return rule.grouping == Grouping::kSites;
}

// Who talks to whom, and how much.
void add_of_plan(const Case& one, std::vector<std::string>& draws) {
  for (const OperationRule& rule : plan_of(one).rules) {
    if (draws_groups(rule, one.replicas)) add_new("who meets whom", draws);
    if (!rule.units.empty()) add_new("who owns which units", draws);
  }
  const PipelineSpec& pipeline = one.pipeline;
  if (!pipeline.has_stages()) return;
  if (pipeline.routing == MicrobatchRouting::kRandom ||
      (pipeline.is_partial() && pipeline.partial == PartialPaths::kRandom))
    add_new("paths of micro-batches", draws);
  if (pipeline.boundary.learned) add_new("bits that are learned", draws);
}

void add_of_steps(const WorkloadSpec& workload, std::vector<std::string>& draws) {
  const StepTime& time = workload.step_time;
  if (time.kind == StepTime::Kind::kLognormal && time.sigma > 0) add_new("step times", draws);
  if (time.kind == StepTime::Kind::kMeasured) add_new("step times, which are measured", draws);
}

void add_of_network(const Case& one, std::vector<std::string>& draws) {
  const NetworkSpec& network = one.network;
  const VariationSpec& variation = network.variation;
  if (network.message_time) {
    if (network.message_time->std > 0) add_new("times of messages", draws);
    return;
  }
  if (network.rank_order.kind == RankOrderSpec::Kind::kRandom) add_new("order of ranks", draws);
  if (network.topology.name == "homes") add_new("rates of homes", draws);
  if (network.tcp.loss > 0) add_new("losses of packets", draws);
  if (variation.has_jitter()) add_new("jitter of links", draws);
  if (std::any_of(variation.background.begin(), variation.background.end(),
                  [](const BackgroundSpec& traffic) { return traffic.on_s || traffic.off_s; }))
    add_new("background traffic", draws);
  if (std::any_of(variation.faults.begin(), variation.faults.end(),
                  [](const LinkFault& fault) { return fault.loss > 0 || has_random_times(fault.times); }))
    add_new("faults of links", draws);
}

// Who is back after a crash downloads from one who is drawn.
void add_of_faults(const Case& one, std::vector<std::string>& draws) {
  if (any_random(one.slow) || !one.crashes.empty() || any_random(one.exchange_faults))
    add_new("faults of replicas", draws);
}

}  // namespace

std::vector<std::string> draws_of(const Case& one) {
  std::vector<std::string> draws;
  add_of_steps(one.workload, draws);
  add_of_plan(one, draws);
  add_of_network(one, draws);
  add_of_faults(one, draws);
  return draws;
}

std::vector<std::string> draws_of(const std::string& case_file) {
  try {
    return draws_of(read_case(case_file));
  } catch (const std::exception&) {  // a case of another version, or of somebody else
    return {kUnknownDraws};
  }
}

bool follows_from_training(const Metric& metric) {
  if (metric.unit == Metric::Unit::kNats || !metric.target.empty()) return true;
  const std::string root = metric.path.substr(0, metric.path.find('.'));
  return root == "perplexity" || root == "weight_spread" || root == "boundary_bits" || root == "best_loss";
}

}  // namespace longhaul
