#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "core/base/index.h"
#include "net/collectives/collective.h"
#include "net/tcp/framing.h"
#include "planner/extrapolation.h"
#include "replay/step_plan.h"

namespace longhaul {
namespace {

// By replica: the number of its site.
std::vector<int> places_of(const Topology& topology) {
  if (!topology.site_of().empty()) return topology.site_of();
  std::vector<int> each(as_index(topology.replicas()));
  std::iota(each.begin(), each.end(), 0);
  return each;
}

int longest_overlap(const OperationPlan& plan) {
  int steps = 0;
  for (const OperationRule& rule : plan.rules) steps = std::max(steps, rule.overlap_steps);
  return steps;
}

class Counter {
 public:
  Counter(const OperationPlan& plan, const std::vector<int>& site_of, int replicas)
      : plan_(plan), site_of_(site_of), replicas_(replicas) {}

  // Of one operation. Among everyone it is the same at every step.
  NodeTraffic of(const Operation& operation) {
    const bool repeats = operation.groups.empty() && operation.targets.empty() && operation.parts.empty();
    if (!repeats) return counted(operation);
    const auto found = known_.find(operation.rule);
    if (found != known_.end()) return found->second;
    return known_[operation.rule] = counted(operation);
  }

 private:
  NodeTraffic counted(const Operation& operation) const {
    NodeTraffic traffic;
    const Collective& collective = find_collective(operation.rule->collective);
    for (const std::vector<int>& replicas : groups_of(operation, replicas_)) {
      if (replicas.size() < 2) continue;
      const std::vector<int> group = workers_of(plan_, *operation.rule, replicas);
      const GroupExchange exchange = group_exchange(group, operation.bytes, operation.rule->payload.size(),
                                                    site_of_, operation.targets, operation.parts);
      const int rounds = collective.rounds(exchange);
      for (int member = 0; member < exchange.members; ++member)
        for (int round = 0; round < rounds; ++round)
          for (const Message& message : collective.round(exchange, member, round).sends)
            traffic[{group[as_index(member)], group[as_index(message.peer)]}] +=
                static_cast<double>(message.bytes);
    }
    return traffic;
  }

  const OperationPlan& plan_;
  const std::vector<int>& site_of_;
  const int replicas_;
  std::map<const OperationRule*, NodeTraffic> known_;
};

// What passes between stages in so many steps. On random paths each worker of the next stage is as likely.
void add_hops(NodeTraffic& traffic, const PipelinePlan& plan, int replicas, double steps) {
  const bool is_straight = plan.routing == MicrobatchRouting::kStraight;
  for (int hop = 0; plan.has_stages() && hop < plan.hop_count(); ++hop)
    for (int replica = 0; replica < replicas; ++replica)
      for (int next = is_straight ? replica : 0; next < (is_straight ? replica + 1 : replicas); ++next) {
        const int from = worker_of(replica, plan.stage_of(hop), plan.stages),
                  to = worker_of(next, plan.stage_of(hop + 1), plan.stages);
        const double messages = steps * plan.microbatches / (is_straight ? 1 : replicas);
        traffic[{from, to}] += messages * static_cast<double>(plan.forward_bytes[as_index(hop)]);
        traffic[{to, from}] += messages * static_cast<double>(plan.backward_bytes[as_index(hop)]);
      }
}

void add_scaled(NodeTraffic& sum, const NodeTraffic& more, double factor) {
  for (const auto& [nodes, bytes] : more) sum[nodes] += factor * bytes;
}

}  // namespace

double SiteTraffic::together() const {
  return std::accumulate(leaving.begin(), leaving.end(), 0.);
}

std::vector<std::string> site_names(const Topology& topology) {
  const std::vector<int> place = places_of(topology);
  int count = 0;
  for (const int site : place) count = std::max(count, site + 1);
  std::vector<std::string> names(as_index(count));
  for (int node = 0; node < topology.replicas(); ++node) {
    std::string& name = names[as_index(place[as_index(node)])];
    if (!name.empty()) continue;
    name = fmt::format("node {}", node);
    if (topology.site_of().empty()) continue;
    for (const Link& link : topology.links())
      if (link.first == node) name = topology.node_name(link.second);
  }
  return names;
}

NodeTraffic node_traffic(const Case& config, const Trace& trace, const Topology& topology,
                         std::int64_t steps) {
  Counter counter(trace.plan, topology.site_of(), config.replicas);
  const int period = period_of(trace.plan), replayed = trace.context.steps;
  const int first = (settling_steps(trace.plan) + period - 1) / period * period;
  // What would arrive after the last step is not posted, so the end of a replay stands for no other period.
  int last = (replayed - longest_overlap(trace.plan)) / period * period;
  if (last <= first) last = replayed / period * period;
  NodeTraffic traffic, of_periods;
  for (int step = 1; step <= replayed; ++step)
    for (const Operation& operation : trace.operations_at(step)) {
      const NodeTraffic sent = counter.of(operation);
      add_scaled(traffic, sent, 1);
      if (step > first && step <= last) add_scaled(of_periods, sent, 1);
    }
  if (steps > replayed)
    add_scaled(traffic, of_periods,
               static_cast<double>(steps - replayed) / static_cast<double>(last - first));
  add_hops(traffic, trace.plan.pipeline, config.replicas, static_cast<double>(steps));
  return traffic;
}

SiteTraffic site_traffic(const NodeTraffic& traffic, const Topology& topology, int segment) {
  const std::vector<int> place = places_of(topology);
  SiteTraffic found;
  found.sites = site_names(topology);
  found.leaving.assign(found.sites.size(), 0);
  const double with_headers = static_cast<double>(segment + kIpTcpBytes) / segment;
  for (const auto& [nodes, bytes] : traffic) {
    const int site = place[as_index(nodes.first)];
    if (site != place[as_index(nodes.second)]) found.leaving[as_index(site)] += with_headers * bytes;
  }
  return found;
}

double busiest_s(const NodeTraffic& traffic, const Topology& topology, const TcpSpec& tcp) {
  double longest = 0;
  std::map<LinkDirection, double> on_links;
  for (const auto& [nodes, bytes] : traffic) {
    const auto [from, to] = nodes;
    longest = std::max(longest, 8 * bytes / (topology.connection_cap(from, to) * tcp.connections));
    for (const LinkDirection direction : topology.path(from, to).directions) on_links[direction] += bytes;
  }
  for (const auto& [direction, bytes] : on_links)
    longest = std::max(longest, bytes / payload_rate(topology.rate(direction), tcp.segment));
  return longest;
}

}  // namespace longhaul
