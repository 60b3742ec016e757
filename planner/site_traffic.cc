#include "planner/site_traffic.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "core/base/index.h"
#include "net/library.h"
#include "net/placement.h"
#include "net/tcp/framing.h"
#include "planner/extrapolation.h"
#include "replay/work/trace_steps.h"

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

void add_scaled(NodeTraffic& sum, const NodeTraffic& more, double factor) {
  for (const auto& [nodes, bytes] : more) sum[nodes] += factor * bytes;
}

// What decides who sends how much to whom, of a group of everyone.
std::string words_of(const Collective& collective, const std::vector<int>& group,
                     const GroupExchange& exchange) {
  std::string words = fmt::format("{} {} {}", collective.name(), exchange.bytes, exchange.tensors);
  // A stage's workers are as far apart as there are stages.
  words += fmt::format(" {} {} {}", group.size(), group.front(), group.back());
  if (collective.needs_sites())
    for (const int site : exchange.site_of) words += fmt::format(" {}", site);
  return words;
}

void add_messages(const Collective& collective, const std::vector<int>& group, const GroupExchange& exchange,
                  NodeTraffic& traffic) {
  const int rounds = collective.rounds(exchange);
  for (int member = 0; member < exchange.members; ++member) {
    int peer = -1;  // most messages go where the last one went
    double* bytes = nullptr;
    for (int round = 0; round < rounds; ++round)
      for (const Message& message : collective.round(exchange, member, round).sends) {
        if (message.peer != peer) {
          peer = message.peer;
          bytes = &traffic[{group[as_index(member)], group[as_index(peer)]}];
        }
        *bytes += static_cast<double>(message.bytes);
      }
  }
}

class Counter {
 public:
  Counter(const NetworkSpec& network, const OperationPlan& plan, const std::vector<int>& site_of,
          int replicas, KnownTraffic& known)
      : network_(network), plan_(plan), site_of_(site_of), replicas_(replicas), known_(known) {}

  // Of one operation, so many times.
  void add(const Operation& operation, double times, NodeTraffic& sum) {
    const bool repeats = operation.groups.empty() && operation.targets.empty() && operation.parts.empty();
    // A library may choose another collective for each size.
    std::map<std::int64_t, int> sizes = {{operation.bytes, 1}};
    if (!operation.rule->sizes.empty()) sizes = operations_by_bytes(operation);
    NodeTraffic drawn;
    for (const std::vector<int>& replicas : groups_of(operation, replicas_)) {
      if (replicas.size() < 2) continue;
      const std::vector<int> group = workers_of(plan_, *operation.rule, replicas);
      for (const auto& [bytes, count] : sizes) {
        const GroupExchange exchange = group_exchange(group, bytes, operation.rule->payload.size(), site_of_,
                                                      operation.targets, operation.parts);
        const Collective& collective = collective_of(network_, *operation.rule, exchange);
        const auto counted = [&] {
          NodeTraffic traffic;
          add_messages(collective, group, exchange, traffic);
          return traffic;
        };
        if (repeats)
          add_scaled(sum, known_.of(words_of(collective, group, exchange), counted), count * times);
        else
          add_scaled(drawn, counted(), count);
      }
    }
    add_scaled(sum, drawn, times);
  }

 private:
  const NetworkSpec& network_;
  const OperationPlan& plan_;
  const std::vector<int>& site_of_;
  const int replicas_;
  KnownTraffic& known_;
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
    name = topology.site_of().empty() ? fmt::format("node {}", node) : site_name(topology, node);
  }
  return names;
}

const NodeTraffic& KnownTraffic::of(const std::string& exchange, const std::function<NodeTraffic()>& count) {
  constexpr std::size_t kMost = 256;
  const auto found = known_.find(exchange);
  if (found != known_.end()) return found->second;
  if (known_.size() >= kMost) known_.clear();
  return known_[exchange] = count();
}

NodeTraffic node_traffic(const Case& config, const Trace& trace, const Topology& topology, std::int64_t steps,
                         KnownTraffic& known) {
  Counter counter(config.network, trace.plan, topology.site_of(), config.replicas, known);
  const Periods periods = periods_of(trace.plan, config.replicas);
  const int period = periods.length, replayed = trace.context.steps;
  const int first = (periods.settling + period - 1) / period * period;
  // What would arrive after the last step is not posted, so the end of a replay stands for no other period.
  int last = (replayed - longest_overlap(trace.plan)) / period * period;
  if (last <= first) last = replayed / period * period;
  const double rest = static_cast<double>(steps - replayed) / std::max(1, last - first);
  NodeTraffic traffic;
  // Operations of everyone that are alike are counted once, however often they come.
  std::map<std::pair<const OperationRule*, std::int64_t>, std::pair<Operation, double>> alike;
  for (int step = 1; step <= replayed; ++step)
    for (const Operation& operation : trace.operations_at(step)) {
      const double times = step > first && step <= last ? 1 + rest : 1;
      if (operation.groups.empty() && operation.targets.empty() && operation.parts.empty())
        alike.emplace(std::make_pair(operation.rule, operation.bytes), std::make_pair(operation, 0.))
            .first->second.second += times;
      else
        counter.add(operation, times, traffic);
    }
  for (const auto& [what, operation] : alike) counter.add(operation.first, operation.second, traffic);
  add_hops(traffic, trace.plan.pipeline, config.replicas, static_cast<double>(steps));
  return traffic;
}

NodeTraffic node_traffic(const Case& config, const Trace& trace, const Topology& topology,
                         std::int64_t steps) {
  KnownTraffic known;
  return node_traffic(config, trace, topology, steps, known);
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
