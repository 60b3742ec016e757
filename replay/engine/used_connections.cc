#include "replay/engine/used_connections.h"

#include <cstdint>
#include <map>
#include <set>

#include "core/base/index.h"
#include "core/plan/paths.h"
#include "net/library.h"
#include "replay/engine/synchronizer.h"
#include "replay/exchange/step_graph_run.h"
#include "replay/work/trace_steps.h"

namespace longhaul {
namespace {

// Of one operation. `shape`: of the group.
void add_connections(const OperationRule& rule, const GroupExchange& shape, const std::vector<int>& group,
                     const NetworkSpec& network, std::set<std::pair<int, int>>& found) {
  if (shape.members < 2) return;
  const Lowering lowering = lowered(network, rule, shape);
  const Collective& collective = *lowering.collective;
  const bool answers =
      lowering.rules.start == MessageStart::kAnnounced || lowering.rules.start == MessageStart::kRendezvous;
  for (int member = 0; member < shape.members; ++member)
    for (int index = 0; index < collective.rounds(shape); ++index)
      for (const Message& message : collective.round(shape, member, index).sends) {
        const int source = group[as_index(member)], target = group[as_index(message.peer)];
        found.insert({source, target});
        if (answers) found.insert({target, source});
      }
}

void add_connections(const Operation& exchange, const std::vector<int>& group,
                     const std::vector<int>& site_of, const NetworkSpec& network,
                     std::set<std::pair<int, int>>& found) {
  if (exchange.rule->kind == OperationKind::kMerge) {
    for (const int replica : group)
      if (replica != Synchronizer::kServerReplica) {
        found.insert({replica, Synchronizer::kServerReplica});
        found.insert({Synchronizer::kServerReplica, replica});
      }
    return;
  }
  // Any two members may be neighbours: by who is in time, or in another round.
  if (!exchange.rule->completion.is_all() || !exchange.parts.empty())
    for (const int source : group)
      for (const int target : group)
        if (source != target) found.insert({source, target});
  // A library may choose another collective for each size.
  std::map<std::int64_t, int> sizes = {{exchange.bytes, 1}};
  if (!exchange.rule->sizes.empty()) sizes = operations_by_bytes(exchange);
  for (const auto& [bytes, count] : sizes)
    add_connections(*exchange.rule,
                    group_exchange(group, bytes, exchange.rule->payload.size(), site_of, exchange.targets,
                                   exchange.parts),
                    group, network, found);
}

// From part to part: inside each replica, or between any two.
void add_hops(const Trace& trace, std::set<std::pair<int, int>>& found) {
  const PipelinePlan& plan = trace.plan.pipeline;
  if (!plan.has_stages()) return;
  const bool is_straight = plan.routing == MicrobatchRouting::kStraight;
  const int replicas = trace.context.replicas;
  for (const auto& [part, next] : hops_of(plan))
    for (int from = 0; from < replicas; ++from)
      for (int to = is_straight ? from : 0; to < (is_straight ? from + 1 : replicas); ++to) {
        const int sender = worker_of(from, plan.stage_of(part), plan.stages),
                  receiver = worker_of(to, plan.stage_of(next), plan.stages);
        found.insert({sender, receiver});
        found.insert({receiver, sender});
      }
}

void add_collectives(const Trace& trace, const std::vector<int>& site_of, const NetworkSpec& network,
                     std::set<std::pair<int, int>>& found) {
  const StepGraph& graph = trace.plan.step_graph;
  if (graph.is_empty()) return;
  const StepGraphGroups groups(graph, trace.context.replicas);
  for (const auto& [collective_and_bytes, count] : graph.sizes())
    for (int replica = 0; replica < trace.context.replicas; ++replica) {
      const std::vector<int>& group = groups.group_of(replica);
      if (group.front() == replica)
        add_connections(groups.rule(collective_and_bytes.first),
                        group_exchange(group, collective_and_bytes.second, 1, site_of), group, network,
                        found);
    }
}

}  // namespace

std::vector<std::pair<int, int>> used_connections(const Trace& trace, const std::vector<int>& site_of,
                                                  const NetworkSpec& network) {
  std::set<std::pair<int, int>> found;
  std::set<const OperationRule*> known;  // rules among everyone use the same connections every time
  for (int step = 1; step <= trace.context.steps; ++step)
    for (const Operation& exchange : trace.operations_at(step)) {
      const bool is_everyone = exchange.groups.empty() && exchange.targets.empty();
      if (is_everyone && !known.insert(exchange.rule).second) continue;
      for (const auto& group : groups_of(exchange, trace.context.replicas))
        add_connections(exchange, workers_of(trace.plan, *exchange.rule, group), site_of, network, found);
    }
  add_hops(trace, found);
  add_collectives(trace, site_of, network, found);
  return {found.begin(), found.end()};
}

}  // namespace longhaul
