#include "planner/site_traffic.h"

#include <fmt/core.h>

#include <map>
#include <numeric>

#include "core/errors.h"
#include "core/index.h"
#include "net/collectives/collective.h"
#include "net/tcp/framing.h"

namespace longhaul {
namespace {

// By replica: the number of its site.
std::vector<int> places_of(const Topology& topology) {
  if (!topology.site_of().empty()) return topology.site_of();
  std::vector<int> each(as_index(topology.replicas()));
  std::iota(each.begin(), each.end(), 0);
  return each;
}

// A site is called by the router that its nodes' links lead to.
std::vector<std::string> site_names(const Topology& topology, const std::vector<int>& place) {
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

class Counter {
 public:
  Counter(const std::vector<int>& place, const std::vector<int>& site_of, int replicas, std::size_t sites)
      : place_(place), site_of_(site_of), replicas_(replicas), zero_(sites) {}

  // Of one operation, by site. Among everyone it is the same at every step.
  std::vector<double> of(const Operation& operation) {
    const bool repeats = operation.groups.empty() && operation.targets.empty() && operation.parts.empty();
    if (!repeats) return counted(operation);
    const auto found = known_.find(operation.rule);
    if (found != known_.end()) return found->second;
    return known_[operation.rule] = counted(operation);
  }

 private:
  std::vector<double> counted(const Operation& operation) const {
    std::vector<double> leaving = zero_;
    const Collective& collective = find_collective(operation.rule->collective);
    for (const std::vector<int>& group : groups_of(operation, replicas_)) {
      if (group.size() < 2) continue;
      const GroupExchange exchange = group_exchange(group, operation.bytes, operation.rule->payload.size(),
                                                    site_of_, operation.targets, operation.parts);
      const int rounds = collective.rounds(exchange);
      for (int member = 0; member < exchange.members; ++member)
        for (int round = 0; round < rounds; ++round)
          for (const Message& message : collective.round(exchange, member, round).sends)
            add(group[as_index(member)], group[as_index(message.peer)], message.bytes, leaving);
    }
    return leaving;
  }

  void add(int from, int to, std::int64_t bytes, std::vector<double>& leaving) const {
    const int site = place_[as_index(from)];
    if (site != place_[as_index(to)]) leaving[as_index(site)] += static_cast<double>(bytes);
  }

  const std::vector<int>&place_, &site_of_;
  const int replicas_;
  const std::vector<double> zero_;
  std::map<const OperationRule*, std::vector<double>> known_;
};

void add_scaled(std::vector<double>& sum, const std::vector<double>& more, double factor) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * more[i];
}

}  // namespace

double SiteTraffic::together() const {
  return std::accumulate(leaving.begin(), leaving.end(), 0.);
}

SiteTraffic site_traffic(const Case& one, const Trace& trace, const Topology& topology, int period,
                         std::int64_t steps) {
  if (has_merges(trace.plan))
    throw InputError("candidates.methods", fmt::format("found \"{}\"", one.method.name),
                     "a method whose replicas send to each other",
                     "its bytes go to a synchronizer, which a plan does not price yet");
  const std::vector<int> place = places_of(topology);
  SiteTraffic traffic;
  traffic.sites = site_names(topology, place);
  traffic.leaving.assign(traffic.sites.size(), 0);
  Counter counter(place, topology.site_of(), one.replicas, traffic.sites.size());
  // Draws differ: of the steps that are not in the trace each period sends the mean of those that are.
  const int replayed = trace.context.steps, periods = replayed / period;
  std::vector<double> of_periods(traffic.sites.size());
  for (int step = 1; step <= replayed; ++step)
    for (const Operation& operation : trace.operations_at(step)) {
      const std::vector<double> leaving = counter.of(operation);
      add_scaled(traffic.leaving, leaving, 1);
      if (step <= periods * period) add_scaled(of_periods, leaving, 1);
    }
  if (steps > replayed)
    add_scaled(traffic.leaving, of_periods,
               static_cast<double>(steps - replayed) / (static_cast<double>(periods) * period));
  const double segment = one.network.tcp.segment;
  for (double& bytes : traffic.leaving) bytes *= (segment + kIpTcpBytes) / segment;
  return traffic;
}

}  // namespace longhaul
