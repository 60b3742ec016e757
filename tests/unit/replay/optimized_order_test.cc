// Orders of ranks for collectives other than the ring, by hand for small networks.
#include "replay/optimized_order.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/plan/operations.h"
#include "net/topologies/registry.h"
#include "tests/unit/net/orders.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::optimized_order_test {

// A matrix file of four sites: A and C are near each other, B and D too, all others far.
Case two_near_pairs(const std::string& all_reduce, int at_each) {
  const std::string file = testing::TempDir() + "longhaul_near_pairs_" + all_reduce + ".json";
  Json matrix = {{"about", "a"}, {"source", "s"}, {"sites", {"A", "B", "C", "D"}}};
  matrix["inside"] = {{"rtt", "1ms"}, {"throughput", "1Gbps"}};
  for (const std::string pair : {"AB", "AC", "AD", "BC", "BD", "CD"})
    matrix["pairs"].push_back({{"between", {pair.substr(0, 1), pair.substr(1)}},
                               {"rtt", pair == "AC" || pair == "BD" ? "10ms" : "100ms"},
                               {"throughput", "200Mbps"}});
  write_text(file, matrix.dump());
  Case config = regions_case(file, {{"A", at_each}, {"B", at_each}, {"C", at_each}, {"D", at_each}});
  config.workload.parameters = 1000000;
  config.method.options = {{"name", "diloco"}, {"all_reduce", all_reduce}};
  config.network.rank_order.kind = RankOrderSpec::Kind::kOptimized;
  return config;
}

// The mean over replicas of a tree all-reduce on the network of fidelity analytic.
double tree_mean_s(const Case& config) {
  OperationRule rule = rule_of("tree");
  rule.payload = whole({"delta"}, Wire::kBf16);
  double sum = 0;
  const Trace trace = make_trace({{rule}}, {1, config.replicas, 1, config.workload.parameters});
  for (const ExchangeRecord& row : walked(config, trace).exchanges) sum += row.done_s - row.start_s;
  return sum / config.replicas;
}

// Low levels inside a site, the next ones between near sites and the last one between the far ones is what a
// person would do (A, C, B, D). A member sends down one message after another, so that it is better still not
// to begin with the far one.
TEST(OptimizedOrder, TreeIsFasterThanWithItsLowLevelsInsideAndThenAmongNearSites) {
  const Case config = two_near_pairs("tree", 2);
  Case by_hand = config;
  by_hand.network.rank_order = {RankOrderSpec::Kind::kList, {0, 1, 4, 5, 2, 3, 6, 7}};
  const Topology near = build_topology(by_hand);
  EXPECT_NEAR(near.rtt_s(0, 2), 0.01, 1e-12);
  EXPECT_NEAR(near.rtt_s(0, 4), 0.1, 1e-12);
  EXPECT_LT(tree_mean_s(config), tree_mean_s(by_hand));
}

// Halving-doubling sends half of the vector between ranks 8 apart, a quarter between ranks 4 apart.
TEST(OptimizedOrder, HalvingDoublingKeepsItsLargeMessagesInsideASite) {
  const std::vector<int> site_of = placed_topology(two_near_pairs("halving-doubling", 4)).site_of();
  for (std::size_t rank = 0; rank < 16; ++rank) {
    EXPECT_EQ(site_of[rank], site_of[rank ^ 8]);
    EXPECT_EQ(site_of[rank], site_of[rank ^ 4]);
    EXPECT_NE(site_of[rank], site_of[rank ^ 2]);
  }
}

TEST(OptimizedOrder, ServerIsAtTheSiteFromWhichAllAreSoonest) {
  Case config = regions_case("aws-2022", {{"sydney", 1}, {"ireland", 1}, {"london", 1}, {"frankfurt", 1}});
  config.workload.parameters = 1000;
  config.method.options = {{"name", "diloco"}, {"all_reduce", "parameter-server"}};
  config.network.rank_order.kind = RankOrderSpec::Kind::kOptimized;
  const Topology topology = placed_topology(config);
  // The server has all once the farthest has sent, and each has the result one way later: the mean over the
  // four is the farthest way and a quarter of the sum of all.
  std::vector<double> mean_s;
  for (int server = 0; server < 4; ++server) {
    double sum = 0, farthest = 0;
    for (int other = 0; other < 4; ++other)
      if (other != server) {
        sum += topology.rtt_s(server, other) / 2;
        farthest = std::max(farthest, topology.rtt_s(server, other) / 2);
      }
    mean_s.push_back(farthest + sum / 4);
  }
  EXPECT_DOUBLE_EQ(mean_s[0], *std::min_element(mean_s.begin(), mean_s.end()));
}

TEST(OptimizedOrder, IsAPermutationForEveryCollectiveAndSize) {
  for (const std::string& collective : all_reduce_collectives())
    for (const int at_each : {1, 3, 5}) {
      const Case config = two_near_pairs(collective, at_each);
      EXPECT_TRUE(holds_all(with_optimized_order(config, {}).network.rank_order.places, config.replicas))
          << collective;
    }
}

}  // namespace longhaul::optimized_order_test
