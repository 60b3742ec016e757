// Which site each rank is at: by hand for every order, and the optimized ring against all permutations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/plan/operations.h"
#include "net/placement.h"
#include "net/site_tour.h"
#include "net/topologies/matrix.h"
#include "net/topologies/registry.h"
#include "net/topology.h"
#include "tests/unit/net/cases.h"
#include "tests/unit/net/orders.h"

namespace longhaul::rank_order_test {

using Kind = RankOrderSpec::Kind;

// Places 0 and 1 in Oregon, 2 in Virginia, 3 to 5 in London.
Case three_sites(RankOrderSpec order) {
  Case config = regions_case("aws-2022", {{"oregon", 2}, {"virginia", 1}, {"london", 3}});
  config.network.rank_order = std::move(order);
  return config;
}

std::vector<int> sites_in(RankOrderSpec order) {
  return build_topology(three_sites(std::move(order))).site_of();
}

// In round robin first a replica at each site, then the second of Oregon and London, then London's third.
TEST(RankOrder, BlocksRoundRobinAndAListByHand) {
  EXPECT_EQ(sites_in({}), (std::vector<int>{0, 0, 1, 2, 2, 2}));
  EXPECT_EQ(sites_in({Kind::kRoundRobin, {}}), (std::vector<int>{0, 1, 2, 0, 2, 2}));
  EXPECT_EQ(round_robin_places({2, 1, 3}), (std::vector<int>{0, 2, 3, 1, 4, 5}));
  EXPECT_EQ(sites_in({Kind::kList, {5, 0, 2, 1, 4, 3}}), (std::vector<int>{2, 0, 1, 0, 2, 2}));
}

TEST(RankOrder, RandomIsAPermutationFromTheSeedOnAStreamOfItsOwn) {
  Case config = regions_case("aws-2022", {{"oregon", 40}, {"virginia", 60}});
  config.network.rank_order.kind = Kind::kRandom;
  const std::vector<int> sites = build_topology(config).site_of();
  EXPECT_EQ(std::count(sites.begin(), sites.end(), 0), 40);
  EXPECT_EQ(build_topology(config).site_of(), sites);
  EXPECT_FALSE(std::is_sorted(sites.begin(), sites.end()));
  config.seed = 2;
  EXPECT_NE(build_topology(config).site_of(), sites);
  RandomStream stream(7, Purpose::kRankOrder);
  EXPECT_EQ(places_of_ranks({Kind::kRandom, {}}, {{"a", 3}, {"b", 5}}, 7), random_permutation(8, stream));
}

TEST(RankOrder, PathsCapsLinksAndOverridesGoWithTheRank) {
  const Matrix aws = load_matrix("aws-2022", ".");
  Case config = three_sites({Kind::kList, {5, 0, 2, 1, 4, 3}});
  config.network.overrides = {up_of(0, 1e6)};
  const Topology topology = build_topology(config);
  const std::vector<std::string> site = {"london", "oregon", "virginia", "oregon", "london", "london"};
  for (int i = 0; i < 6; ++i) {
    const Link& link = topology.links()[as_index(i)];
    EXPECT_EQ(link.name, "replica" + std::to_string(i) + "-" + site[as_index(i)]);
    EXPECT_EQ(link.first, i);
    EXPECT_EQ(link.rate_forward, i == 0 ? 1e6 : 10e9);
  }
  for_pairs(6, [&](int i, int j) {
    const std::string &here = site[as_index(i)], &there = site[as_index(j)];
    const SitePair pair = here == there ? aws.inside() : aws.between(here, there);
    EXPECT_NEAR(topology.rtt_s(i, j), pair.rtt, 1e-12);
    EXPECT_EQ(topology.connection_cap(i, j), pair.throughput);
  });
}

TEST(RankOrder, EveryTopologyWithSitesHasIt) {
  Case config = star_case(4, 0, 0);
  config.network.rank_order.kind = Kind::kRoundRobin;
  config.network.topology = hierarchical_spec({{"a", 2}, {"b", 2}}, access_section(10e9, 10e9, 0.002),
                                              access_section(1e9, 1e9, 0.08));
  EXPECT_EQ(build_topology(config).site_of(), (std::vector<int>{0, 1, 0, 1}));
  config = corners_case({});
  config.replicas = 6;
  const std::vector<int> blocks = build_topology(config).site_of();
  config.network.rank_order = {Kind::kList, {5, 4, 3, 2, 1, 0}};
  EXPECT_EQ(build_topology(config).site_of(), std::vector<int>(blocks.rbegin(), blocks.rend()));
}

// Sites drawn on a square, with an own throughput for each pair; 40 to 200 ms, 50 Mb/s to 1 Gb/s.
struct DrawnSites {
  explicit DrawnSites(int sites, std::uint32_t number) {
    RandomStream stream(11, Purpose::kPlacement, number);
    std::vector<double> x, y;
    for (int i = 0; i < sites; ++i) {
      x.push_back(stream.uniform());
      y.push_back(stream.uniform());
    }
    hops.latency_s.assign(x.size(), std::vector<double>(x.size(), 0.001));
    hops.sending_s.assign(x.size(), std::vector<double>(x.size(), 0.01));
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = i + 1; j < x.size(); ++j) {
        hops.latency_s[i][j] = hops.latency_s[j][i] = 0.02 + 0.06 * std::hypot(x[i] - x[j], y[i] - y[j]);
        hops.sending_s[i][j] = hops.sending_s[j][i] = 0.08 * std::pow(20, stream.uniform() - 0.5);
      }
  }
  HopCosts hops;
};

// Of 70 drawn networks: 3 to 9 sites of one replica, where latency, both, or the longest sending decides. Up
// to 8 it is the optimum; of 9 the bound is 5 % for each, and most are the optimum too.
TEST(RankOrder, OptimizedRingIsThatOfAllPermutationsOrNear) {
  int optimal = 0, drawn = 0;
  for (int sites = 3; sites <= 9; ++sites)
    for (std::uint32_t number = 0; number < 10; ++number) {
      DrawnSites network(sites, static_cast<std::uint32_t>(10 * sites) + number);
      for (auto& row : network.hops.sending_s)
        for (double& value : row) value *= number % 3 == 0 ? 0.01 : number % 3 == 1 ? 1 : 20;
      const auto round_s = [&hops = network.hops](const std::vector<int>& site_of) {
        return written_out_round_s(site_of, [&](std::size_t from, std::size_t to) {
          return std::pair(hops.latency_s[from][to], hops.sending_s[from][to]);
        });
      };
      const std::vector<int> one_each(as_index(sites), 1);
      const double best = least_of_all(one_each, round_s, 1);  // a ring has no first member
      const double found = round_s(best_ring(one_each, network.hops));
      EXPECT_GE(found, best * (1 - 1e-9));
      EXPECT_LE(found, best * (sites <= 8 ? 1 + 1e-9 : 1.05)) << sites << " sites, number " << number;
      optimal += found <= best * (1 + 1e-9);
      ++drawn;
    }
  EXPECT_GE(optimal, drawn * 9 / 10);
  RecordProperty("optimal", optimal);
}

// 64 sites on a circle, written in an order that jumps about: the shortest tour is the circle.
TEST(RankOrder, ATourOverSitesOnACircleIsTheCircle) {
  constexpr int kSites = 64;
  CostMatrix cost(kSites, std::vector<double>(kSites));
  const auto angle = [](int site) { return 2 * M_PI * (site * 27 % kSites) / kSites; };
  for (int i = 0; i < kSites; ++i)
    for (int j = 0; j < kSites; ++j)
      cost[as_index(i)][as_index(j)] = std::abs(2 * std::sin((angle(i) - angle(j)) / 2));
  const std::vector<int> tour = short_tour(cost);
  double length = 0;
  for (int i = 0; i < kSites; ++i)
    length += cost[as_index(tour[as_index(i)])][as_index(tour[as_index((i + 1) % kSites)])];
  EXPECT_NEAR(length, kSites * 2 * std::sin(M_PI / kSites), 1e-9);
}

}  // namespace longhaul::rank_order_test
