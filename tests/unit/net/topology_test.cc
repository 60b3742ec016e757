// Topologies: links, paths, round trips; of homes the rates are drawn from log-normal distributions, held
// against the distribution's closed form. Overrides: one slow link, one slow replica. Which site each rank is
// at: by hand for every order, and the optimized ring against all permutations.
#include "net/topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/random.h"
#include "core/plan/operations.h"
#include "net/overrides.h"
#include "net/placement.h"
#include "net/site_tour.h"
#include "net/tcp/connection.h"
#include "net/topologies/matrix.h"
#include "net/topologies/registry.h"
#include "tests/support/files.h"
#include "tests/support/said.h"
#include "tests/unit/net/cases.h"
#include "tests/unit/net/orders.h"

namespace longhaul::topology_test {

TEST(Star, RoundTripIsThatOfTheScenarioBetweenAnyTwo) {
  const Topology topology = build_topology(star_case(4, 1e8, 0.05));
  for_pairs(4, [&](int i, int j) { EXPECT_DOUBLE_EQ(topology.rtt_s(i, j), 0.05); });
  EXPECT_EQ(topology.links()[3].name, "replica3-core");
  EXPECT_DOUBLE_EQ(topology.links()[3].delay_s, 0.0125);
  EXPECT_EQ(topology.path(3, 1).directions, (std::vector<LinkDirection>{6, 3})) << "3 forward, 1 backward";
  Case config = star_case(2, 0, 0.05);
  config.network.topology = star_spec(2e7, 2e8, 0.05);
  const Topology uneven = build_topology(config);
  EXPECT_DOUBLE_EQ(uneven.rate(0), 2e7);
  EXPECT_DOUBLE_EQ(uneven.rate(1), 2e8);
  EXPECT_DOUBLE_EQ(uneven.bottleneck(0, 1), 2e7);
  // 2 · 25 ms, a segment of 1538 bytes over two links of 100 Mb/s, an acknowledgement of 90 bytes back.
  const ConnectionFacts facts = connection_facts(topology, config.network.tcp, 0, 1);
  EXPECT_NEAR(facts.rtt_s, 0.05 + 2 * 8 * 1538 / 1e8 + 2 * 8 * 90 / 1e8, 1e-12);
  EXPECT_EQ(facts.acks, (std::vector<LinkDirection>{2, 1}));
}

// Measured round trips violate the triangle inequality, as Frankfurt's to Sydney by Singapore; the direct way
// is what was measured.
TEST(Regions, RoundTripsAreExactlyTheMatrix) {
  for (const std::string& name : built_in_matrices()) {
    const Matrix matrix = load_matrix(name, ".");
    SiteCounts placement;
    for (const std::string& site : matrix.sites()) placement.push_back({site, 2});
    const Topology topology = build_topology(regions_case(name, placement));
    for_pairs(topology.replicas(), [&](int i, int j) {
      const std::string &site = matrix.sites()[as_index(i / 2)], &other = matrix.sites()[as_index(j / 2)];
      const SitePair& expected = site == other ? matrix.inside() : matrix.between(site, other);
      EXPECT_NEAR(topology.rtt_s(i, j), expected.rtt, 1e-12) << name << ' ' << site << ' ' << other;
      EXPECT_EQ(topology.connection_cap(i, j), expected.throughput);
      EXPECT_EQ(topology.path(i, j).directions.size(), site == other ? 2u : 3u) << "the direct trunk";
    });
  }
}

TEST(Regions, EvenGivesTheFirstSitesTheRemainder) {
  Case config = regions_case("aws-2022", {});
  config.replicas = 5;
  config.network.topology.options["replicas"] = "even";
  config.network.topology.options["sites"] = {"oregon", "london", "tokyo"};
  const Topology topology = build_topology(config);
  EXPECT_EQ(topology.links()[1].name, "replica1-oregon");
  EXPECT_EQ(topology.links()[2].name, "replica2-london");
  EXPECT_EQ(topology.links()[4].name, "replica4-tokyo");
}

// 523 Mb/s between Oregon and Tokyo at 96 ms, so a window of 6.3 MB; the public run with 8 connections gained
// 3.1.
TEST(Regions, SeveralConnectionsShareTheGainThatIsGiven) {
  Case config = regions_case("aws-2022", {{"oregon", 1}, {"tokyo", 1}});
  const ConnectionFacts facts = connection_facts(build_topology(config), config.network.tcp, 0, 1);
  EXPECT_NEAR(facts.window_limit, 523e6 / 8 * 0.096, 1e3);
  config.network.tcp.connections = 8;
  EXPECT_EQ(build_topology(config).connection_cap(0, 1), 523e6);
  config.network.topology.options["connections_gain"] = 3.1;
  EXPECT_NEAR(8 * build_topology(config).connection_cap(0, 1), 3.1 * 523e6, 1);
  config.network.tcp.connections = 2;
  EXPECT_EQ(build_topology(config).connection_cap(0, 1), 523e6) << "two gain two";
}

// 880 Mb/s of one connection, 900 and 950 of eight in its directions, 890 of four: eight have 112.5 each,
// four and three together 890, sixteen no more than eight. Of the other pairs, where one alone was measured,
// as many times one as the gain says.
TEST(Regions, SeveralConnectionsCarryWhatWasMeasuredTogether) {
  const TemporaryFolder folder;
  const auto write = [&](const char* eight) {
    write_text(folder.file("sites.json"), std::string(R"({"about": "", "source": "", "sites": ["a", "b", "c"],
      "inside": {"rtt": "1ms", "throughput": "10Gbps"}, "pairs": [
      {"between": ["a", "b"], "rtt": "20ms", "throughput": "880Mbps", "measured": [
        {"from": "a", "connections": 1, "throughput": "930Mbps"},
        {"from": "b", "connections": 1, "throughput": "880Mbps"},
        {"connections": 4, "throughput": "890Mbps"},
        {"from": "a", "connections": 8, "throughput": "950Mbps"},
        {"from": "b", "connections": 8, "throughput": ")") +
                                              eight + R"("}]},
      {"between": ["a", "c"], "rtt": "20ms", "throughput": "500Mbps"},
      {"between": ["b", "c"], "rtt": "20ms", "throughput": "500Mbps",
       "measured": [{"connections": 1, "throughput": "500Mbps"}]}]})");
  };
  write("900Mbps");
  Case config = regions_case(folder.file("sites.json"), {{"a", 1}, {"b", 1}, {"c", 1}});
  const auto together = [&](int connections, int to) {
    config.network.tcp.connections = connections;
    return connections * build_topology(config).connection_cap(to / 2, to);
  };
  EXPECT_NEAR(together(1, 1), 880e6, 1);
  EXPECT_NEAR(together(3, 1), 890e6, 1);
  EXPECT_NEAR(together(4, 1), 890e6, 1);
  EXPECT_NEAR(together(8, 1), 900e6, 1);
  EXPECT_NEAR(together(16, 1), 900e6, 1);
  EXPECT_NEAR(together(8, 2), 4e9, 1);
  config.network.topology.options["connections_gain"] = 3.1;
  EXPECT_NEAR(together(8, 2), 1550e6, 1);
  EXPECT_NEAR(together(8, 1), 900e6, 1);
  config.network.topology.options["connections_gain"] = 1;
  EXPECT_NEAR(together(8, 1), 880e6, 1);
  config.network.topology.options.erase("connections_gain");
  write("700Mbps");  // several are no worse than one
  EXPECT_NEAR(together(8, 1), 880e6, 1);
}

// The same topology with its links written out, as the packet fidelity has it.
TEST(Mesh, WithoutStoringItsLinksIsTheMeshOfAllOfThem) {
  Case stored = mesh_case(9, 1e8, 0.05);
  stored.network.fidelity = "packet";
  const Topology whole = build_topology(stored), compact = build_topology(mesh_case(9, 1e8, 0.05));
  EXPECT_TRUE(compact.is_mesh());
  EXPECT_FALSE(whole.is_mesh());
  ASSERT_EQ(compact.link_count(), 36);
  for (int i = 0; i < 36; ++i) {
    EXPECT_EQ(compact.link(i).name, whole.link(i).name);
    EXPECT_EQ(compact.rate(2 * i), 1e8);
    EXPECT_EQ(compact.from(2 * i), whole.from(2 * i));
    EXPECT_EQ(compact.to(2 * i), whole.to(2 * i));
  }
  for_pairs(9, [&](int i, int j) {
    EXPECT_EQ(compact.path(i, j).directions, whole.path(i, j).directions);
    EXPECT_DOUBLE_EQ(compact.rtt_s(i, j), 0.05);
  });
  const Topology large = build_topology(mesh_case(1024, 1e9, 0.1));
  EXPECT_EQ(large.link_count(), 1024 * 1023 / 2);
  for (int second = 1; second < 1024; ++second)
    for (const int first : {0, second / 2, second - 1}) {
      const Link link = large.link(large.path(first, second).directions.front() / 2);
      EXPECT_EQ(link.first, first);
      EXPECT_EQ(link.second, second);
    }
}

// Inside 10 Gb/s and 2 ms; between sites 100 Mb/s up, 1 Gb/s down, 80 ms.
Case sites_case(const Json& sites, int replicas) {
  Case config = star_case(replicas, 0, 0);
  config.network.topology =
      hierarchical_spec(sites, access_section(10e9, 10e9, 0.002), access_section(1e8, 1e9, 0.08));
  return config;
}

TEST(Hierarchical, SitesAreWhereTheReplicasAreAndTrunksBetweenThem) {
  const Topology uneven = build_topology(sites_case({{"a", 2}, {"b", 3}}, 5));
  for_pairs(5,
            [&](int i, int j) { EXPECT_DOUBLE_EQ(uneven.rtt_s(i, j), (i < 2) == (j < 2) ? 0.002 : 0.08); });
  EXPECT_EQ(build_topology(sites_case({{"a", 2}, {"b", 1}}, 3)).site_of(), (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(build_topology(sites_case(3, 5)).site_of(), (std::vector<int>{0, 0, 1, 1, 2}));
  EXPECT_EQ(build_topology(sites_case({{"a", 2}, {"b", 0}}, 2)).links().size(), 3u)
      << "an empty site has no link";
  const Topology topology = build_topology(sites_case({{"a", 2}, {"b", 2}}, 4));
  EXPECT_DOUBLE_EQ(topology.bottleneck(0, 1), 10e9);
  EXPECT_DOUBLE_EQ(topology.bottleneck(1, 2), 1e8) << "up to the core";
  EXPECT_EQ(topology.links()[4].name, "a-wan");
  EXPECT_EQ(topology.links()[5].name, "b-wan");
  // Both replicas of a site go through the same link.
  EXPECT_EQ(topology.path(0, 2).directions, (std::vector<LinkDirection>{0, 8, 11, 5}));
  EXPECT_EQ(topology.path(1, 3).directions, (std::vector<LinkDirection>{2, 8, 11, 7}));
}

constexpr int kMany = 4000;
constexpr double kStandardErrors = 4;

Case homes_case(int replicas, double floor = 1) {
  Case config = star_case(replicas, 0, 0);
  config.network.topology = {"homes",
                             {{"up", {{"median", "22.6Mbps"}, {"sigma", 1.65}}},
                              {"down", {{"median", "193.7Mbps"}, {"sigma", 0.55}}},
                              {"floor", bps(floor)},
                              {"rtt", "14ms"}}};
  return config;
}

// The logarithms of rates.
std::vector<double> logarithms(const Topology& topology, bool is_up) {
  std::vector<double> all;
  for (const Link& link : topology.links())
    all.push_back(std::log(is_up ? link.rate_forward : link.rate_backward));
  return all;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.) / static_cast<double>(values.size());
}

double covariance(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean(a), mean_b = mean(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
  return sum / static_cast<double>(a.size());
}

// The logarithms are normal with mean ln(median) and deviation sigma; a sample median of a normal deviates by
// sqrt(π/2) · sigma / sqrt(n). Up and down are independent.
TEST(Homes, RatesHaveTheMedianAndTheSigmaAskedFor) {
  const Topology topology = build_topology(homes_case(kMany));
  const double root = std::sqrt(kMany);
  for (const auto& [is_up, median, sigma] : {std::tuple{true, 22.6e6, 1.65}, {false, 193.7e6, 0.55}}) {
    std::vector<double> logs = logarithms(topology, is_up);
    EXPECT_NEAR(mean(logs), std::log(median), kStandardErrors * sigma / root);
    EXPECT_NEAR(std::sqrt(covariance(logs, logs)), sigma, kStandardErrors * sigma / std::sqrt(2. * kMany));
    std::nth_element(logs.begin(), logs.begin() + kMany / 2, logs.end());
    EXPECT_NEAR(logs[kMany / 2], std::log(median), kStandardErrors * std::sqrt(M_PI / 2) * sigma / root);
  }
  const std::vector<double> up = logarithms(topology, true), down = logarithms(topology, false);
  EXPECT_NEAR(covariance(up, down) / (1.65 * 0.55), 0, kStandardErrors / root);
}

// A floor at the median holds half of the homes.
TEST(Homes, NothingIsBelowTheFloor) {
  const std::vector<double> up = logarithms(build_topology(homes_case(kMany, 22.6e6)), true);
  EXPECT_DOUBLE_EQ(*std::min_element(up.begin(), up.end()), std::log(22.6e6));
  const auto held = static_cast<double>(std::count(up.begin(), up.end(), std::log(22.6e6)));
  EXPECT_NEAR(held / kMany, 0.5, kStandardErrors * 0.5 / std::sqrt(kMany));
}

TEST(Homes, AnotherSeedDrawsOthersAndOneMoreReplicaDoesNot) {
  Case config = homes_case(8);
  const Topology eight = build_topology(config), nine = build_topology(homes_case(9));
  config.seed = 2;
  const Topology others = build_topology(config);
  for (LinkDirection direction = 0; direction < 16; ++direction) {
    EXPECT_EQ(eight.rate(direction), nine.rate(direction));
    EXPECT_NE(eight.rate(direction), others.rate(direction));
  }
  // A speed test shows the access link alone, there and back: two homes are 2 · 14 ms apart.
  EXPECT_DOUBLE_EQ(eight.rtt_s(0, 8), 0.014) << "to the core";
  EXPECT_DOUBLE_EQ(eight.rtt_s(0, 2), 0.028);
  EXPECT_TRUE(eight.site_of().empty());
}

LinkOverride of_link(const std::string& link, std::optional<double> up, std::optional<double> down,
                     std::optional<double> delay_s = {}) {
  return {link, {0, -1}, up, down, delay_s};
}

// Of a star of four at 1 Gb/s and 0.1 s.
Topology star_with(std::vector<LinkOverride> overrides, const std::vector<double>& expected_rates) {
  Case config = star_case(4, 1e9, 0.1);
  config.network.overrides = std::move(overrides);
  const Topology topology = build_topology(config);
  for (LinkDirection direction = 0; direction < 8; ++direction)
    EXPECT_DOUBLE_EQ(topology.rate(direction), expected_rates[as_index(direction)]) << direction;
  return topology;
}

TEST(Overrides, ChangeALinkThoseOfReplicasOrThoseOfAGlob) {
  const Topology topology =
      star_with({of_link("replica2-core", 1e6, {}, 0.5)}, {1e9, 1e9, 1e9, 1e9, 1e6, 1e9, 1e9, 1e9});
  EXPECT_DOUBLE_EQ(topology.rtt_s(0, 2), 2 * (0.5 + 0.025));
  EXPECT_DOUBLE_EQ(topology.rtt_s(0, 1), 0.1);
  star_with({{"", {1, 2}, {}, 2e6, {}}}, {1e9, 1e9, 1e9, 2e6, 1e9, 2e6, 1e9, 1e9});
  // The last one wins.
  star_with({of_link("*-core", 5e6, 5e6), of_link("replica3-core", 7e6, {})},
            {5e6, 5e6, 5e6, 5e6, 5e6, 5e6, 7e6, 5e6});
}

// Up is away from the replica on whichever end of the link it stands.
TEST(Overrides, UpIsFromTheReplica) {
  Topology topology(2);
  topology.add_link({"pair", 1, 0, 1e9, 1e9, 0});
  apply_overrides({up_of(0, 3e6)}, topology);
  EXPECT_DOUBLE_EQ(topology.rate(1), 3e6) << "backward: from replica 0";
  EXPECT_DOUBLE_EQ(topology.rate(0), 1e9);
}

// Least delay takes the quick detour that the fewest hops leave aside; of an override, too.
TEST(Topology, APathIsTheQuickestOrHasTheFewestHops) {
  for (const bool by_override : {false, true})
    for (const Routing routing : {Routing::kLeastDelay, Routing::kFewestHops}) {
      Topology topology(2, routing);
      const int middle = topology.add_router("middle");
      topology.add_link({"direct", 0, 1, 1e9, 1e9, by_override ? 0.01 : 0.03});
      topology.add_link({"first", 0, middle, 1e9, 1e9, 0.01});
      topology.add_link({"second", middle, 1, 1e9, 1e9, 0.01});
      if (by_override) {
        EXPECT_EQ(topology.path(0, 1).directions.size(), 1u);
        apply_overrides({of_link("direct", {}, {}, 0.1)}, topology);
      }
      EXPECT_EQ(topology.path(0, 1).directions.size(), routing == Routing::kLeastDelay ? 2u : 1u);
    }
  Topology apart(2);
  apart.add_link({"replica0-a", 0, apart.add_router("a"), 1, 1, 0});
  apart.add_link({"replica1-b", 1, apart.add_router("b"), 1, 1, 0});
  EXPECT_THROW(apart.path(0, 1), InputError);
}

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
  Case config = sites_case(2, 4);
  config.network.rank_order.kind = Kind::kRoundRobin;
  EXPECT_EQ(build_topology(config).site_of(), (std::vector<int>{0, 1, 0, 1}));
  config = corners_case({});
  config.replicas = 6;
  const std::vector<int> blocks = build_topology(config).site_of();
  config.network.rank_order = {Kind::kList, {5, 4, 3, 2, 1, 0}};
  EXPECT_EQ(build_topology(config).site_of(), std::vector<int>(blocks.rbegin(), blocks.rend()));
}

// Of sites drawn on a square, with an own throughput for each pair; 40 to 200 ms, 50 Mb/s to 1 Gb/s, so that
// both count, or a hundredth or twenty times as long to send, so that latency or the longest sending decides.
HopCosts drawn_hops(int sites, std::uint32_t number) {
  RandomStream stream(11, Purpose::kPlacement, static_cast<std::uint32_t>(10 * sites) + number);
  const double scale = number % 3 == 0 ? 0.01 : number % 3 == 1 ? 1 : 20;
  std::vector<double> x, y;
  for (int i = 0; i < sites; ++i) {
    x.push_back(stream.uniform());
    y.push_back(stream.uniform());
  }
  HopCosts hops;
  hops.latency_s.assign(x.size(), std::vector<double>(x.size(), 0.001));
  hops.sending_s.assign(x.size(), std::vector<double>(x.size(), 0.01 * scale));
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = i + 1; j < x.size(); ++j) {
      hops.latency_s[i][j] = hops.latency_s[j][i] = 0.02 + 0.06 * std::hypot(x[i] - x[j], y[i] - y[j]);
      hops.sending_s[i][j] = hops.sending_s[j][i] = scale * 0.08 * std::pow(20, stream.uniform() - 0.5);
    }
  return hops;
}

// Of 70 drawn networks: 3 to 9 sites of one replica. Up to 8 it is the optimum; of 9 the bound is 5 % for
// each, and most are the optimum too.
TEST(RankOrder, OptimizedRingIsThatOfAllPermutationsOrNear) {
  int optimal = 0, drawn = 0;
  for (int sites = 3; sites <= 9; ++sites)
    for (std::uint32_t number = 0; number < 10; ++number) {
      const HopCosts hops = drawn_hops(sites, number);
      const auto round_s = [&](const std::vector<int>& site_of) {
        return written_out_round_s(site_of, [&](std::size_t from, std::size_t to) {
          return std::pair(hops.latency_s[from][to], hops.sending_s[from][to]);
        });
      };
      const std::vector<int> one_each(as_index(sites), 1);
      const double best = least_of_all(one_each, round_s, 1);  // a ring has no first member
      const double found = round_s(best_ring(one_each, hops));
      EXPECT_GE(found, best * (1 - 1e-9));
      EXPECT_LE(found, best * (sites <= 8 ? 1 + 1e-9 : 1.05)) << sites << " sites, number " << number;
      optimal += found <= best * (1 + 1e-9);
      ++drawn;
    }
  EXPECT_GE(optimal, drawn * 9 / 10);
  RecordProperty("optimal", optimal);
}

// Two groups of sites, those of even and of odd number; a message between them takes ten times as long to
// send. Every ring crosses twice at least, and the longest sending decides: all rings have the same round.
// The one that crosses no more than it must is taken: 8 sites of which all orders are tried, and 16.
TEST(RankOrder, OfEqualRoundsTheShorterRing) {
  for (const int sites : {4, 8, 16}) {
    const auto n = as_index(sites);
    HopCosts hops = {CostMatrix(n, std::vector<double>(n)), CostMatrix(n, std::vector<double>(n, 0.1))};
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if ((i + j) % 2 == 1) hops.sending_s[i][j] = 1;
    const std::vector<int> ring = best_ring(std::vector<int>(n, 1), hops);
    int crossings = 0;
    for (std::size_t i = 0; i < n; ++i) crossings += (ring[i] + ring[(i + 1) % n]) % 2;
    EXPECT_EQ(crossings, 2) << sites;
  }
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

}  // namespace longhaul::topology_test
