// Sites joined by slow links: round trips, shared trunks, placement.
#include <gtest/gtest.h>

#include "net/topologies/registry.h"
#include "net/topology.h"
#include "tests/unit/net/cases.h"

namespace longhaul::hierarchical_test {

// Inside 10 Gb/s and 2 ms; between sites 100 Mb/s up, 1 Gb/s down, 80 ms.
Case sites_case(const Json& sites, int replicas) {
  Case config = star_case(replicas, 0, 0);
  config.network.topology =
      hierarchical_spec(sites, access_section(10e9, 10e9, 0.002), access_section(1e8, 1e9, 0.08));
  return config;
}

TEST(Hierarchical, RoundTripsAreThoseOfTheScenario) {
  const Topology topology = build_topology(sites_case({{"a", 2}, {"b", 3}}, 5));
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j)
      if (i != j) {
        EXPECT_DOUBLE_EQ(topology.rtt_s(i, j), (i < 2) == (j < 2) ? 0.002 : 0.08);
      }
}

TEST(Hierarchical, OnlyTrafficBetweenSitesMeetsTheTrunks) {
  const Topology topology = build_topology(sites_case({{"a", 2}, {"b", 2}}, 4));
  EXPECT_DOUBLE_EQ(topology.bottleneck(0, 1), 10e9);
  EXPECT_DOUBLE_EQ(topology.bottleneck(1, 2), 1e8) << "up to the core";
  EXPECT_EQ(topology.links()[4].name, "a-wan");
  EXPECT_EQ(topology.links()[5].name, "b-wan");
  // Both replicas of a site go through the same link.
  EXPECT_EQ(topology.path(0, 2).directions, (std::vector<LinkDirection>{0, 8, 11, 5}));
  EXPECT_EQ(topology.path(1, 3).directions, (std::vector<LinkDirection>{2, 8, 11, 7}));
}

TEST(Hierarchical, SitesAreWhereTheReplicasAre) {
  EXPECT_EQ(build_topology(sites_case({{"a", 2}, {"b", 1}}, 3)).site_of(), (std::vector<int>{0, 0, 1}));
  const Topology even = build_topology(sites_case(3, 5));
  EXPECT_EQ(even.site_of(), (std::vector<int>{0, 0, 1, 1, 2}));
  EXPECT_EQ(build_topology(sites_case({{"a", 2}, {"b", 0}}, 2)).links().size(), 3u)
      << "an empty site has no link";
}

}  // namespace longhaul::hierarchical_test
