#include "replay/predict/estimate.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/units.h"
#include "net/collectives/collective.h"
#include "net/collectives/slices.h"
#include "net/distributions/distribution.h"
#include "net/library.h"
#include "net/tcp/connection.h"
#include "net/tcp/fifo.h"
#include "net/topologies/registry.h"
#include "net/variation/path_losses.h"
#include "net/variation/variation.h"
#include "replay/exchange/step_graph_run.h"
#include "replay/output/tables.h"
#include "replay/placement/optimized_order.h"
#include "replay/predict/segment_estimate.h"
#include "replay/rollouts/weight_transfer.h"
#include "replay/work/trace_steps.h"

namespace longhaul {
namespace {

// Measured on one core of the machine that builds the project (results/reference/speed/network.md); only
// orders of magnitude matter here.
constexpr double kFlowEventsPerSecond = 4e6;
constexpr double kReplicaStepsPerSecond = 8e6;  // log-normal step times, no row written
constexpr double kStepRowsPerSecond = 1e6;
constexpr double kPacketSegmentsPerSecond = 2.5e4;
constexpr double kAnalyticMessagesPerSecond = 2e6;
constexpr double kLinuxSegmentsPerSecond = 2e6, kLinuxMessagesPerSecond = 1e5;
// Where each member sends to more peers than this at a time, an event changes the rates of all flows.
constexpr int kFewAtOnce = 8;

// One connection of ns-3 counts its bytes in 32 bits.
constexpr double kLargestPacketConnection = 4e9;

bool needs_sites(const OperationRule& rule) {
  return rule.collective != kLibraryChoice && find_collective(rule.collective).needs_sites();
}

GroupExchange group_of(const Operation& exchange, std::int64_t bytes, int members,
                       const std::vector<int>& workers, const Case& config) {
  GroupExchange group{members, bytes, static_cast<int>(exchange.rule->payload.size()), {}};
  group.targets = exchange.targets;
  group.senders = senders_of(exchange.targets);
  group.parts = exchange.parts;
  if (exchange.groups.empty() && needs_sites(*exchange.rule)) {
    group.site_of = placed_topology(config).site_of();
    if (workers.empty()) return group;
    std::vector<int> sites;
    for (const int worker : workers) sites.push_back(group.site_of[as_index(worker)]);
    group.site_of = std::move(sites);
  }
  return group;
}

// Nobody replays what 64 bits do not count: their largest number stands for it.
void add_product(std::int64_t& sum, std::int64_t count, std::int64_t each) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(count, each, &product) || __builtin_add_overflow(sum, product, &sum))
    sum = std::numeric_limits<std::int64_t>::max();
}

// What one group costs.
struct GroupCost {
  std::int64_t transfers = 0, bytes = 0, events = 0, segments = 0;
  double seconds = 0;  // besides those by events
};

// Rounds in which the window of a connection that was idle doubles, for messages of `bytes` at most: until it
// covers the path or the message.
int doublings(const ConnectionFacts& path, const TcpSpec& tcp, double bytes) {
  const double pipe = alone_rate(path, tcp.segment, tcp.connections) * path.rtt_s;
  const double first = static_cast<double>(kInitialWindowSegments) * tcp.segment * tcp.connections;
  const double needed = std::min(bytes, pipe);
  return needed > first ? static_cast<int>(std::ceil(std::log2(needed / first))) : 0;
}

// How unlike the paths of a group are, and how many messages a member sends at a time: both decide how much
// an event costs.
struct GroupTraffic {
  double start_up_events = 0;
  int peers_at_once = 1;
  bool paths_differ = false;
};

bool is_like(const ConnectionFacts& connection_facts, const ConnectionFacts& other, const TcpSpec& tcp) {
  const auto near = [](double a, double b) { return std::abs(a - b) <= 0.01 * std::max(a, b); };
  return near(connection_facts.rtt_s, other.rtt_s) &&
         near(alone_rate(connection_facts, tcp.segment, tcp.connections),
              alone_rate(other, tcp.segment, tcp.connections));
}

// Of all that a member sends. In a large group only some members are asked. Where paths are alike messages
// follow each other, and a window that was idle doubles once; where a slower path sets the pace, the others
// are silent between two messages, and begin again with each.
GroupTraffic traffic_of(const Case& config, const Topology& topology, const Collective& collective,
                        const GroupExchange& group, const std::vector<int>& replicas) {
  constexpr std::int64_t kMostRounds = 1 << 12;
  const TcpSpec& tcp = config.network.tcp;
  const int rounds = collective.rounds(group);
  const int asked =
      static_cast<int>(std::clamp<std::int64_t>(kMostRounds / std::max(1, rounds), 1, group.members));
  const auto replica = [&](int member) { return replicas.empty() ? member : replicas[as_index(member)]; };
  GroupTraffic traffic;
  double once = 0, each_time = 0, in_rounds = 0;
  std::optional<ConnectionFacts> first;
  for (int i = 0; i < asked; ++i) {
    const int member = static_cast<int>(static_cast<std::int64_t>(i) * group.members / asked);
    std::map<int, std::vector<std::int64_t>> to;  // by peer
    for (int round = 0; round < rounds; ++round) {
      std::set<int> peers;
      for (const Message& message : collective.round(group, member, round).sends) {
        to[message.peer].push_back(message.bytes);
        peers.insert(message.peer);
      }
      traffic.peers_at_once = std::max(traffic.peers_at_once, static_cast<int>(peers.size()));
    }
    for (const auto& [peer, messages] : to) {
      const ConnectionFacts path = connection_facts(topology, tcp, replica(member), replica(peer));
      const auto largest = static_cast<double>(*std::max_element(messages.begin(), messages.end()));
      traffic.paths_differ = traffic.paths_differ || (first && !is_like(*first, path, tcp));
      if (!first) first = path;
      once += 2 * doublings(path, tcp, largest);
      for (const std::int64_t bytes : messages)
        each_time += 2 * doublings(path, tcp, static_cast<double>(bytes));
      if (tcp.queue != "fifo") continue;
      const double pipe = alone_rate(path, tcp.segment, tcp.connections) * path.rtt_s;
      for (const std::int64_t bytes : messages) in_rounds += 2 * std::ceil(static_cast<double>(bytes) / pipe);
    }
  }
  const bool starts_again = traffic.paths_differ && tcp.slow_start_after_idle && tcp.queue != "fifo";
  // Trees send to several at a time: what they begin and end changes the others' windows too.
  const double together = starts_again && rounds > 64 ? 2 : 1;
  traffic.start_up_events =
      ((starts_again ? together * each_time : once) + in_rounds) * group.members / asked;
  return traffic;
}

// What that takes for each flow, s. Flows end one by one where beginnings and paths differ, else mostly
// together.
double seconds_per_flow(const StepTime& time, bool paths_differ) {
  const bool begin_apart = time.kind == StepTime::Kind::kMeasured || time.sigma > 0;
  if (begin_apart && paths_differ) return 1.2e-8;
  return begin_apart || paths_differ ? 5e-10 : 0;
}

// Where the network signals congestion each connection is on its own (replay/flow/flow_network.h).
int channels(const TcpSpec& tcp) {
  return tcp.queue != "host" || tcp.loss > 0 ? tcp.connections : 1;
}

// `count` groups of so many members, `first` the workers of one of them (empty: all there are); `bytes`: of
// one operation.
void add(ReplayEstimate& estimate, const Operation& exchange, const std::vector<int>& first, int members,
         std::int64_t count, std::int64_t bytes, const Case& config,
         std::map<std::tuple<std::string, int, std::int64_t>, GroupCost>& known) {
  if (members < 2) return;
  const auto key = std::make_tuple(exchange.rule->collective, members, bytes);
  auto found = known.find(key);
  if (found == known.end()) {
    const GroupExchange group = group_of(exchange, bytes, members, first, config);
    const Lowering lowering = lowered(config.network, *exchange.rule, group);
    const Collective& collective = *lowering.collective;
    check_slices(config.network.slice, collective, group);
    GroupCost cost{transfers_of(lowering, group), collective.totals(group).bytes, 0, 0, 0};
    if (config.network.fidelity == "linux")
      cost.segments = segments_of(cost.transfers, cost.bytes, config.network.tcp);
    if (config.network.fidelity == "flow") {
      // An order of ranks changes which paths are long, and hardly how many events there are.
      const GroupTraffic traffic =
          traffic_of(config, build_topology(in_blocks(config)), collective, group, first);
      cost.events =
          (2 * cost.transfers + std::llround(traffic.start_up_events)) * channels(config.network.tcp);
      if (traffic.peers_at_once > kFewAtOnce)
        cost.seconds = static_cast<double>(cost.events) * members * traffic.peers_at_once *
                       seconds_per_flow(config.workload.step_time, traffic.paths_differ);
    }
    found = known.emplace(key, cost).first;
  }
  add_product(estimate.transfers, count, found->second.transfers);
  add_product(estimate.payload_bytes, count, found->second.bytes);
  add_product(estimate.events, count, found->second.events);
  add_product(estimate.segments, count, found->second.segments);
  estimate.seconds += static_cast<double>(count) * found->second.seconds;
}

// What passes between stages; connections that go on do not start again. Of learned bits an upper bound, as
// long as they are not known.
void add_stages(ReplayEstimate& estimate, const Case& config, const Trace& trace) {
  const PipelinePlan& plan = trace.plan.pipeline;
  if (!plan.has_stages()) return;
  const std::int64_t before = estimate.payload_bytes;
  std::int64_t batches = 0, transfers = 0;
  add_product(batches, trace.context.steps, trace.context.replicas);
  add_product(transfers, batches, 2 * std::int64_t{plan.microbatches} * plan.hops_of_microbatch());
  if (trace.bits.empty())
    add_product(estimate.payload_bytes, batches, plan.bytes_of_step());
  else
    for (int step = 1; step <= trace.context.steps; ++step)
      for (int replica = 0; replica < trace.context.replicas; ++replica)
        add_product(estimate.payload_bytes, 1, trace.stage_bytes(step, replica));
  add_product(estimate.transfers, transfers, 1);
  if (config.network.fidelity == "linux")
    add_product(estimate.segments, 1,
                segments_of(transfers, estimate.payload_bytes - before, config.network.tcp));
  if (config.network.fidelity == "flow")
    for (int way = 0; way < 2; ++way) add_product(estimate.events, transfers, channels(config.network.tcp));
}

// What replicas send each other inside their steps.
void add_step_graph(ReplayEstimate& estimate, const Case& config, const Trace& trace,
                    std::map<std::tuple<std::string, int, std::int64_t>, GroupCost>& known) {
  const StepGraph& graph = trace.plan.step_graph;
  if (graph.is_empty()) return;
  const StepGraphGroups groups(graph, trace.context.replicas);
  for (const auto& [collective_and_bytes, count] : graph.sizes()) {
    Operation exchange;
    exchange.rule = &groups.rule(collective_and_bytes.first);
    add(estimate, exchange, groups.group_of(0), graph.group_size,
        static_cast<std::int64_t>(groups.count()) * count * trace.context.steps, collective_and_bytes.second,
        config, known);
  }
}

// The versions of the weights that go to rollouts, and the samples that these generate.
void add_weights(ReplayEstimate& estimate, const Case& config) {
  if (!config.rollouts) return;
  constexpr double kSamplesPerSecond = 1e6;
  const RolloutSpec& rollouts = *config.rollouts;
  const std::int64_t versions = rollouts.version_before(config.steps());
  const int store = rollouts.has_store() ? config.host_of_store() : -1;
  for (const WeightTree& tree : weight_trees(config, placed_topology(config).site_of())) {
    std::int64_t hops = 0, requests = 0;
    for (int host = 0; host < static_cast<int>(tree.next.size()); ++host) {
      const auto below = static_cast<std::int64_t>(tree.next[as_index(host)].size());
      hops += below;
      if (host == store) requests += below;
    }
    const auto pieces = static_cast<std::int64_t>(pieces_of(tree, rollouts.weights).size());
    const std::int64_t messages = (hops + requests) * pieces;
    add_product(estimate.transfers, versions, messages);
    add_product(estimate.payload_bytes, hops * versions, tree.bytes);
    if (config.network.fidelity == "linux")
      add_product(estimate.segments, hops * versions, segments_of(pieces, tree.bytes, config.network.tcp));
    if (config.network.fidelity == "flow")
      add_product(estimate.events, 2 * versions * channels(config.network.tcp), messages);
  }
  estimate.seconds += static_cast<double>(rollouts.batch) * config.steps() / kSamplesPerSecond;
}

// What others send beside the exchanges of a case, one after another, and while replicas compute. Groups that
// exchange at the same time take as long as the largest of them.
class OthersBeside {
 public:
  OthersBeside(const Case& config)
      : config_(config), topology_(build_topology(in_blocks(config))), traffic_(config, topology_) {}

  bool is_empty() const { return traffic_.is_empty(); }

  void add(const Operation& exchange, const std::vector<int>& workers, int members, bool are_many,
           std::int64_t times, std::int64_t bytes) {
    if (members < 2) return;
    const auto key = std::make_tuple(exchange.rule->collective, members, bytes);
    auto found = known_.find(key);
    if (found == known_.end()) {
      const GroupExchange group = group_of(exchange, bytes, members, workers, config_);
      const Collective& collective = collective_of(config_.network, *exchange.rule, group);
      found = known_.emplace(key, traffic_.beside(collective, group, workers, are_many)).first;
    }
    exchanges_.seconds += static_cast<double>(times) * found->second.seconds;
    exchanges_.segments += static_cast<double>(times) * found->second.segments;
  }

  // Where replicas do not wait for an exchange, it passes while they compute.
  void finish(const Trace& trace, ReplayEstimate& estimate) const {
    const std::vector<double>& factors = config_.workload.step_time_factors;
    const double slowest = factors.empty() ? 1 : *std::max_element(factors.begin(), factors.end());
    const double compute_s = slowest * trace.context.steps * config_.workload.step_time.mean_s();
    const bool is_hidden = std::any_of(trace.plan.rules.begin(), trace.plan.rules.end(),
                                       [](const OperationRule& rule) { return !rule.is_blocking(); });
    const double silent_s = is_hidden ? std::max(0., compute_s - exchanges_.seconds) : compute_s;
    estimate.beside_others_s = silent_s + exchanges_.seconds;
    estimate.segments_of_others =
        std::llround(std::min(exchanges_.segments + traffic_.segments_alone(silent_s), kMostSegmentsCounted));
  }

 private:
  static constexpr double kMostSegmentsCounted = 9e18;

  const Case& config_;
  Topology topology_;
  OtherTraffic traffic_;
  std::map<std::tuple<std::string, int, std::int64_t>, OtherTraffic::Beside> known_;
  OtherTraffic::Beside exchanges_;
};

// Times are whole nanoseconds: a rest of a message that takes less than half of one would never end.
constexpr double kFastestFlow = 1e13;  // bit/s; the smallest segment takes 0.4 ns

void check_rates_for_flow(const Topology& topology) {
  const int count = topology.is_mesh() ? 1 : topology.link_count();  // those of a mesh are all alike
  for (int number = 0; number < std::min(count, topology.link_count()); ++number) {
    const Link link = topology.link(number);
    for (const double rate : {link.rate_forward, link.rate_backward})
      if (std::isfinite(rate) && rate > kFastestFlow)
        throw InputError("network.topology",
                         fmt::format("link {} has {} bit/s", link.name, format_number(rate)),
                         "at most 10 Tbps in fidelity \"flow\", whose times are whole nanoseconds",
                         "for a network that takes no time use fidelity \"analytic\"");
  }
}

}  // namespace

ReplayEstimate estimate(const Case& config, const Trace& trace) {
  ReplayEstimate estimate;
  std::map<std::tuple<std::string, int, std::int64_t>, GroupCost> known;
  std::optional<OthersBeside> others;
  if (config.network.fidelity == "linux" && !config.network.variation.background.empty())
    others.emplace(config);
  for (int step = 1; step <= trace.context.steps; ++step)
    for (const Operation& exchange : trace.operations_at(step)) {
      std::map<std::size_t, std::vector<const std::vector<int>*>> by_size;
      for (const std::vector<int>& group : exchange.groups) by_size[group.size()].push_back(&group);
      const bool has_stage = exchange.rule->stage >= 0;
      for (const auto& [bytes, times] : operations_by_bytes(exchange)) {
        if (by_size.empty() && exchange.rule->is_of_everyone()) {
          std::vector<int> all;
          if (has_stage)
            all = workers_of(trace.plan, *exchange.rule, groups_of(exchange, trace.context.replicas).front());
          add(estimate, exchange, all, trace.context.replicas, times, bytes, config, known);
          if (others) others->add(exchange, all, trace.context.replicas, false, times, bytes);
        }
        for (const auto& [size, groups] : by_size)
          add(estimate, exchange, workers_of(trace.plan, *exchange.rule, *groups.front()),
              static_cast<int>(size), times * static_cast<std::int64_t>(groups.size()), bytes, config, known);
        if (others && !by_size.empty()) {
          const auto& [size, groups] = *by_size.rbegin();
          others->add(exchange, workers_of(trace.plan, *exchange.rule, *groups.front()),
                      static_cast<int>(size), groups.size() > 1, times, bytes);
        }
      }
    }
  add_stages(estimate, config, trace);
  add_step_graph(estimate, config, trace, known);
  add_weights(estimate, config);
  if (others && !others->is_empty()) others->finish(trace, estimate);
  const double segments = static_cast<double>(estimate.payload_bytes) / config.network.tcp.segment;
  const double replica_steps = trace.context.steps * static_cast<double>(worker_count(trace));
  estimate.seconds += replica_steps / kReplicaStepsPerSecond;
  if (replica_steps <= static_cast<double>(kMostStepRows))
    estimate.seconds += replica_steps / kStepRowsPerSecond;
  const auto transfers = static_cast<double>(estimate.transfers);
  const std::string& fidelity = config.network.fidelity;
  estimate.seconds +=
      fidelity == "packet" ? (segments + transfers) / kPacketSegmentsPerSecond
      : fidelity == "linux"
          ? (static_cast<double>(estimate.segments) + static_cast<double>(estimate.segments_of_others)) /
                    kLinuxSegmentsPerSecond +
                transfers / kLinuxMessagesPerSecond
      : fidelity == "analytic" ? transfers / kAnalyticMessagesPerSecond
                               : static_cast<double>(estimate.events) / kFlowEventsPerSecond;
  return estimate;
}

std::string segments_in_words(const ReplayEstimate& estimate) {
  if (estimate.segments == 0) return "";
  const std::string own = human_count(static_cast<double>(estimate.segments)) + " segments";
  if (estimate.beside_others_s == 0) return own;
  return fmt::format("{}, and {} or more of others in {}", own,
                     human_count(static_cast<double>(estimate.segments_of_others)),
                     human_duration(estimate.beside_others_s));
}

void check_network(const Case& config, bool is_emulated) {
  const Topology topology = placed_topology(config);
  const Variation variation(config.network.variation, topology, config.seed);
  if (!is_emulated) check_losses(config.network, topology);
  const TcpSpec& tcp = config.network.tcp;
  if (config.network.fidelity == "flow") check_rates_for_flow(topology);
  if (config.network.fidelity != "packet") return;
  if (tcp.congestion_control == "bbr") check_fifo_for_bbr(tcp, topology);
  variation.check_for_packets(config.network.variation);
  const double state_bytes = config.pipeline.rebalance_every > 0 ? config.pipeline.state_bytes : 0;
  const double largest = std::max(2. * bytes_per_parameter(config.workload.wire), state_bytes) *
                         static_cast<double>(config.workload.parameters);
  if (largest / config.network.tcp.connections > kLargestPacketConnection)
    throw InputError("network.tcp.connections",
                     fmt::format("found {} for messages of up to {}", config.network.tcp.connections,
                                 human_bytes(largest)),
                     "below 4 GB a connection in fidelity \"packet\"",
                     "use more connections, or fidelity \"flow\"");
}

void check_collectives(const Case& config, const OperationPlan& plan) {
  for (const OperationRule& rule : plan.rules)
    if (needs_sites(rule) && placed_topology(config).site_of().empty())
      throw InputError("method.all_reduce",
                       fmt::format("found \"{}\" on a topology without sites", rule.collective),
                       "a topology with sites (longhaul list networks), or another collective",
                       "the collective reduces inside a site before it goes between sites");
}

}  // namespace longhaul
