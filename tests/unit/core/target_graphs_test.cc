// Graphs along whose edges replicas send to each other.
#include "core/plan/target_graphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/index.h"
#include "core/plan/rule_json.h"
#include "tests/support/traces.h"

namespace longhaul::target_graphs_test {

using Groups = std::vector<std::vector<int>>;

const PlanContext kContext{1, 8, 35, 1000};

// By hand, the one before first.
TEST(TargetGraphs, OfTheRingAreBothNeighbours) {
  EXPECT_EQ(ring_targets(5), (Groups{{4, 1}, {0, 2}, {1, 3}, {2, 4}, {3, 0}}));
  EXPECT_EQ(ring_targets(3), (Groups{{2, 1}, {0, 2}, {1, 0}}));
}

// How many replicas there are on the cycle through `first` on places 2c and 2c + 1.
int length_of_cycle(const Groups& neighbours, int cycle, int first) {
  int length = 0, before = neighbours[as_index(first)][as_index(2 * cycle)], at = first;
  do {
    const std::vector<int>& all = neighbours[as_index(at)];
    const int one = all[as_index(2 * cycle)], other = all[as_index(2 * cycle + 1)];
    before = std::exchange(at, one == before ? other : one);
    ++length;
  } while (at != first);
  return length;
}

// Each cycle goes through all, who hears one is heard by it, and all neighbours are different.
TEST(TargetGraphs, OfCyclesAreAllReplicasInEachAndNoEdgeTwice) {
  for (const int cycles : {1, 2})
    for (const int replicas : {5, 6, 7, 12, 200})
      for (const std::uint64_t seed : {1, 2, 3}) {
        const Groups targets = cycle_targets(seed, replicas, cycles, 50);
        ASSERT_EQ(targets.size(), as_index(replicas));
        for (int replica = 0; replica < replicas; ++replica) {
          const std::vector<int>& mine = targets[as_index(replica)];
          std::set<int> different(mine.begin(), mine.end());
          EXPECT_EQ(different.size(), as_index(2 * cycles));
          EXPECT_EQ(different.count(replica), 0u);
          for (const int other : mine) {
            const std::vector<int>& theirs = targets[as_index(other)];
            EXPECT_EQ(std::count(theirs.begin(), theirs.end(), replica), 1);
          }
        }
        for (int cycle = 0; cycle < cycles; ++cycle) EXPECT_EQ(length_of_cycle(targets, cycle, 0), replicas);
      }
  EXPECT_EQ(cycle_targets(1, 12, 2, 50), cycle_targets(1, 12, 2, 50));
  EXPECT_NE(cycle_targets(1, 12, 2, 50), cycle_targets(1, 12, 2, 100));
  EXPECT_NE(cycle_targets(1, 12, 2, 50), cycle_targets(2, 12, 2, 50));
}

// Each edge of one random cycle is as likely: of 6 replicas 6 of 15 edges are in it.
TEST(TargetGraphs, NoEdgeIsPreferred) {
  constexpr int kSteps = 6000, kReplicas = 6;
  std::map<std::pair<int, int>, int> counts;
  for (int step = 1; step <= kSteps; ++step) {
    const Groups targets = cycle_targets(9, kReplicas, 1, step);
    for (int one = 0; one < kReplicas; ++one)
      for (const int other : targets[as_index(one)])
        if (one < other) ++counts[{one, other}];
  }
  ASSERT_EQ(counts.size(), 15u);
  // A standard deviation of 38.
  for (const auto& [edge, count] : counts) EXPECT_NEAR(count, kSteps * 6. / 15, 190);
}

TEST(TargetGraphs, ReadBackFromATraceAndAreRefusedWhereTheyCannotBe) {
  OperationRule rule = rule_of("outer", "send", 5, "weights");
  rule.kind = OperationKind::kSend;
  rule.grouping = Grouping::kTargets;
  for (const auto& [graph, size] :
       {std::pair{TargetGraph::kRing, 2}, {TargetGraph::kCycles, 2}, {TargetGraph::kCycles, 4}}) {
    rule.target_graph = graph, rule.group_size = size;
    const OperationPlan plan{{rule}};
    const Operation operation = operations_at(plan, kContext, 10).at(0);
    EXPECT_EQ(operation.targets,
              graph == TargetGraph::kRing ? ring_targets(8) : cycle_targets(1, 8, size / 2, 10));
    const Trace back = read_back(make_trace(plan, kContext));
    EXPECT_EQ(back.plan.rules[0].target_graph, graph);
    EXPECT_EQ(back.operations_at(10)[0].targets, operation.targets);
  }
  for (const auto& [graph, size] :
       {std::pair{TargetGraph::kRing, 4}, {TargetGraph::kCycles, 3}, {TargetGraph::kCycles, 6}}) {
    rule.target_graph = graph, rule.group_size = size;
    const std::string header = to_json(rule).dump();
    EXPECT_THROW(rule_from(Json::parse(header), kContext), InputError) << header;
  }
  rule.target_graph = TargetGraph::kCycles, rule.group_size = 4;
  PlanContext few = kContext;
  few.replicas = 4;
  EXPECT_THROW(rule_from(to_json(rule), few), InputError) << "four replicas have three others";
  rule.grouping = Grouping::kEveryone, rule.group_size = 2;
  EXPECT_THROW(rule_from(to_json(rule), kContext), InputError) << "no targets";
}

}  // namespace longhaul::target_graphs_test
