#include "analysis/comparison/draws.h"

#include "analysis/text.h"
#include "core/base/ranges.h"
#include "methods/common/registry.h"
#include "net/tcp/connection.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace {

// Whether each replica takes the same time for the same work, and has the same links to all others.
bool are_replicas_alike(const Case& config) {
  const NetworkSpec& network = config.network;
  const std::vector<double>& factors = config.workload.step_time_factors;
  const bool equal_steps =
      config.workload.step_time.kind == StepTime::Kind::kConstant &&
      std::all_of(factors.begin(), factors.end(), [&](double factor) { return factor == factors[0]; });
  const bool equal_times = !network.message_time || network.message_time->std == 0;
  return equal_steps && equal_times && network.fidelity != "packet" && network.fidelity != "linux" &&
         network.overrides.empty() && network.variation.is_empty() && network.tcp.loss == 0 &&
         config.faults.empty() && !config.pipeline.has_stages() &&
         topology_named(network.topology.name).why_no_order == kReplicasAlike;
}

// A connection keeps its window for the next message, so that two who meet again are faster than two who are
// new to each other: unless every silence is so long that the largest window is gone (net/tcp/connection.h).
// What is sent beside the compute is taken to send for twice as long as its bytes take.
bool forgets_windows(const OperationRule& rule, const Case& config) {
  const NetworkSpec& network = config.network;
  if (network.fidelity == "analytic" || network.message_time) return true;
  if (!network.tcp.slow_start_after_idle || network.tcp.congestion_control == "bbr") return false;
  constexpr double kTimeOuts = 32;  // of which each halves the window
  const Topology topology = build_topology(config);
  const auto bytes = static_cast<double>(payload_bytes(rule, config.workload.parameters, config.replicas));
  const double sending_s = rule.is_blocking() ? 0 : 2 * 8 * bytes / topology.bottleneck(0, 1);
  const std::vector<double>& factors = config.workload.step_time_factors;
  const double step_s = config.workload.step_time.seconds * (factors.empty() ? 1 : factors[0]);
  return rule.every * step_s - sending_s > kTimeOuts * retransmission_timeout_s(topology.rtt_s(0, 1));
}

// Whether the draw moves a time. Where all replicas are alike and meet in pairs, each pair takes the same
// time whoever is in it. Not so in larger groups: the root of a tree is done at another time than its leaves.
bool draws_groups(const OperationRule& rule, const Case& config) {
  if (has_targets(rule.grouping))
    return rule.target_graph != TargetGraph::kRing && rule.group_size < config.replicas - 1;
  if (rule.grouping == Grouping::kSites) return true;
  if (rule.grouping != Grouping::kRandom || rule.group_size >= config.replicas) return false;
  const bool all_in_pairs = rule.group_size == 2 && config.replicas % 2 == 0;
  return !(all_in_pairs && are_replicas_alike(config) && forgets_windows(rule, config));
}

// Who talks to whom, and how much.
void add_of_plan(const Case& config, std::vector<std::string>& draws) {
  for (const OperationRule& rule : plan_of(config).rules) {
    if (draws_groups(rule, config)) add_new("who meets whom", draws);
    if (!rule.units.empty()) add_new("who owns which units", draws);
  }
  const PipelineSpec& pipeline = config.pipeline;
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

void add_of_network(const Case& config, std::vector<std::string>& draws) {
  const NetworkSpec& network = config.network;
  const VariationSpec& variation = network.variation;
  if (network.message_time) {
    if (network.message_time->std > 0) add_new("times of messages", draws);
    return;
  }
  if (network.rank_order.kind == RankOrderSpec::Kind::kRandom) add_new("order of ranks", draws);
  if (network.topology.name == "homes") add_new("rates of homes", draws);
  if (network.tcp.loss > 0) add_new("losses of packets", draws);
  if (variation.has_jitter()) add_new("jitter of links", draws);
  if (any_of(variation.background,
             [](const BackgroundSpec& traffic) { return traffic.on_s || traffic.off_s; }))
    add_new("background traffic", draws);
}

void add_of_rollouts(const Case& config, std::vector<std::string>& draws) {
  if (!config.rollouts) return;
  const SampleLength& length = config.rollouts->length;
  const bool is_drawn = length.kind == SampleLength::Kind::kPareto ||
                        (length.kind == SampleLength::Kind::kLognormal && length.sigma > 0);
  if (is_drawn) add_new("lengths of samples", draws);
}

void add_of_faults(const Case& config, std::vector<std::string>& draws) {
  for (const bool of_links : {true, false})
    if (any_of(config.faults,
               [&](const Fault& fault) { return fault.is_drawn() && fault.is_of_links() == of_links; }))
      add_new(of_links ? "faults of links" : "faults of replicas", draws);
}

}  // namespace

std::vector<std::string> draws_of(const Case& config) {
  std::vector<std::string> draws;
  add_of_steps(config.workload, draws);
  add_of_plan(config, draws);
  add_of_network(config, draws);
  add_of_rollouts(config, draws);
  add_of_faults(config, draws);
  return draws;
}

std::vector<std::string> draws_of(const std::string& case_file) {
  try {
    return draws_of(read_case(case_file));
  } catch (const std::exception&) {  // a case of another version, or of somebody else
    return {kUnknownDraws};
  }
}

}  // namespace longhaul
