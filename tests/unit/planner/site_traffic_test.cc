// Bytes between nodes beside a count of every message of every step.
#include "planner/site_traffic.h"

#include <gtest/gtest.h>

#include "net/library.h"
#include "net/topologies/registry.h"
#include "planner/token_needs.h"
#include "replay/exchange/step_plan.h"
#include "replay/work/trace_steps.h"
#include "tests/unit/net/cases.h"
#include "tests/unit/planner/in_process.h"

namespace longhaul::site_traffic_test {

// The slow reference: all steps, all members, all rounds, all messages.
NodeTraffic every_message(const Case& config, const Topology& topology) {
  NodeTraffic traffic;
  const Trace trace = trace_of(config);
  for (int step = 1; step <= config.steps(); ++step)
    for (const Operation& operation : trace.operations_at(step))
      for (const std::vector<int>& replicas : groups_of(operation, config.replicas)) {
        if (replicas.size() < 2) continue;
        const std::vector<int> group = workers_of(trace.plan, *operation.rule, replicas);
        const GroupExchange exchange = group_exchange(group, operation.bytes, operation.rule->payload.size(),
                                                      topology.site_of(), operation.targets, operation.parts);
        const Collective& collective = find_collective(operation.rule->collective);
        for (int member = 0; member < exchange.members; ++member)
          for (int round = 0; round < collective.rounds(exchange); ++round)
            for (const Message& message : collective.round(exchange, member, round).sends)
              traffic[{group[static_cast<std::size_t>(member)],
                       group[static_cast<std::size_t>(message.peer)]}] += static_cast<double>(message.bytes);
      }
  return traffic;
}

Json sites_of_five(const Json& candidates) {
  Json plan = star(Json::parse(R"({"network": null, "nodes": null, "parameters": 362000003, "tokens": 150000,
    "sites": [{"name": "a", "nodes": 3, "rate": "1538Mbps"}, {"name": "b", "nodes": 2, "rate": "1538Mbps"}],
    "paths": [{"between": ["a", "b"], "rtt": "20ms"}]})"));
  plan["candidates"].update(candidates);
  return plan;
}

// With one count for all candidates of a plan: those before it leave no trace in another's numbers.
TEST(NodeTraffic, IsWhatEveryMessageSays) {
  KnownTraffic known;
  for (const Json& method : {Json{{"name", "diloco"}}, Json{{"name", "ddp"}}, Json{{"name", "hierarchical"}},
                             Json{{"name", "noloco"}}, Json{{"name", "epidemic"}},
                             Json{{"name", "streaming-diloco"}, {"fragments", 3}}})
    for (const char* collective : {"ring", "direct", "double-tree", "tree"}) {
      SCOPED_TRACE(method.dump() + collective);
      const PlanFolder folder;
      const PlanRequest plan =
          plan_of_json(folder, sites_of_five({{"methods", Json::array({method})},
                                              {"all_reduce", {collective}},
                                              {"inner_steps", {20, 60}},
                                              {"wires", {"bf16", "fp32"}},
                                              {"rank_orders", {"blocks", "round-robin"}}}));
      const PlannedNetwork network = network_in(folder, plan);
      const PlanTools tools = tools_in(folder);
      for (const Candidate& candidate :
           candidates_of(plan, network, token_needs(plan, candidate_methods(plan)).of_method)) {
        const Case config = tools.validated(candidate.scenario);
        const OperationPlan operations = plan_of(config);
        const Topology topology = placed_topology(config, operations);
        Case begin = config;
        begin.workload.steps = steps_to_replay(periods_of(config, operations), config.steps());
        const NodeTraffic found = node_traffic(config, trace_of(begin), topology, config.steps(), known);
        const NodeTraffic expected = every_message(config, topology);
        ASSERT_EQ(found.size(), expected.size()) << candidate.recipe;
        for (const auto& [nodes, bytes] : expected)
          EXPECT_NEAR(found.at(nodes) / bytes, 1, 1e-12) << nodes.first << " to " << nodes.second;
      }
    }
}

// An average in two operations, for each of which NCCL has an algorithm of its own: 1 KiB on its trees, 128
// KiB round a ring.
TEST(NodeTraffic, CountsEachOperationOfAnAverage) {
  Case config = star_case(4, 1e9, 0.01);
  config.network.library = "nccl";
  OperationRule rule{"outer", OperationKind::kAllReduce, kLibraryChoice};
  rule.payload = whole({"delta"}, Wire::kFp32);
  rule.sizes = {256, 128 * 256};
  const Trace trace = make_trace({{rule}}, {1, 4, 1, 129 * 256});
  double found = 0;
  for (const auto& [nodes, bytes] : node_traffic(config, trace, build_topology(config), 1)) found += bytes;
  const std::int64_t expected = find_collective("double-tree").totals({4, 1 << 10}).bytes +
                                find_collective("ring").totals({4, 128 << 10}).bytes;
  EXPECT_EQ(found, static_cast<double>(expected));
}

// A ring of 1000 sends two million messages; of the candidates that share it each message is counted once.
TEST(NodeTraffic, CountsAnExchangeOnceForAllCandidates) {
  KnownTraffic known;
  int counted = 0;
  const auto count = [&] {
    ++counted;
    return NodeTraffic{{{0, 1}, 8.}};
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(known.of("ring 8 bytes", count).at({0, 1}), 8);
  EXPECT_EQ(counted, 1);
  known.of("ring 16 bytes", count);
  EXPECT_EQ(counted, 2);
}

}  // namespace longhaul::site_traffic_test
