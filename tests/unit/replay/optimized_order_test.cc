// Orders of ranks for collectives other than the ring, by hand for small networks.
#include "replay/optimized_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>

#include "core/plan/operations.h"
#include "net/topologies/registry.h"
#include "replay/exchange_run.h"
#include "replay/network/analytic_network.h"
#include "replay/network/clock.h"
#include "tests/unit/net/cases.h"

namespace longhaul::optimized_order_test {

// A matrix file of four sites: A and C are near each other, B and D too, all others far.
Case two_near_pairs(const std::string& all_reduce, int at_each) {
  const std::string file = testing::TempDir() + "longhaul_near_pairs_" + all_reduce + ".json";
  const auto pair = [](const char* character, const char* other, const char* rtt) {
    return std::string(R"({"between": [")") + character + R"(", ")" + other + R"("], "rtt": ")" + rtt +
           R"(", "throughput": "200Mbps"})";
  };
  std::ofstream(file) << R"({"about": "a", "source": "s", "sites": ["A", "B", "C", "D"],
    "inside": {"rtt": "1ms", "throughput": "1Gbps"}, "pairs": [)"
                      << pair("A", "B", "100ms") + "," + pair("A", "C", "10ms") + "," +
                             pair("A", "D", "100ms") + "," + pair("B", "C", "100ms") + "," +
                             pair("B", "D", "10ms") + "," + pair("C", "D", "100ms")
                      << "]}";
  Case config = regions_case(file, {{"A", at_each}, {"B", at_each}, {"C", at_each}, {"D", at_each}});
  config.workload.parameters = 1000000;
  config.method.options = {{"name", "diloco"}, {"all_reduce", all_reduce}};
  config.network.rank_order.kind = RankOrderSpec::Kind::kOptimized;
  return config;
}

// The mean over replicas of a tree all-reduce on the network of fidelity analytic.
double tree_mean_s(const Case& config, const Topology& topology) {
  EventQueue clock;
  AnalyticNetwork network(config.network, topology, 1, clock);
  const ExchangeContext context{clock, network, topology.site_of()};
  OperationRule rule;
  rule.collective = "tree";
  rule.payload = whole({"vector"}, Wire::kBf16);
  std::vector<int> everyone(static_cast<std::size_t>(config.replicas));
  std::iota(everyone.begin(), everyone.end(), 0);
  ExchangeRun run(context, rule, 0, 1, everyone, 2 * config.workload.parameters, [](int) {});
  for (const int replica : everyone) run.post(replica);
  clock.run();
  double sum = 0;
  for (const int replica : everyone) sum += run.times(replica).done_s;
  return sum / config.replicas;
}

// Low levels inside a site, the next ones between near sites and the last one between the far ones is what a
// person would do (A, C, B, D). A member sends down one message after another, so that it is better still not
// to begin with the far one.
TEST(OptimizedOrder, TreeIsFasterThanWithItsLowLevelsInsideAndThenAmongNearSites) {
  const Case config = two_near_pairs("tree", 2);
  Case by_hand = config;
  by_hand.network.rank_order = {RankOrderSpec::Kind::kList, {0, 1, 4, 5, 2, 3, 6, 7}};
  const Topology near = build_topology(by_hand), optimized = placed_topology(config);
  EXPECT_NEAR(near.rtt_s(0, 2), 0.01, 1e-12);
  EXPECT_NEAR(near.rtt_s(0, 4), 0.1, 1e-12);
  EXPECT_LT(tree_mean_s(config, optimized), tree_mean_s(config, near));
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
      std::vector<int> places = with_optimized_order(config, {}).network.rank_order.places;
      std::sort(places.begin(), places.end());
      ASSERT_EQ(static_cast<int>(places.size()), config.replicas) << collective;
      for (int i = 0; i < config.replicas; ++i)
        EXPECT_EQ(places[static_cast<std::size_t>(i)], i) << collective;
    }
}

}  // namespace longhaul::optimized_order_test
