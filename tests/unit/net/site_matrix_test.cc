#include "net/site_matrix.h"

#include <gtest/gtest.h>

#include <cmath>

#include "net/topologies/matrix.h"
#include "net/topologies/registry.h"
#include "tests/unit/net/cases.h"

namespace longhaul::site_matrix_test {

// Three routers in a row, 10 ms and 20 ms apart one way, the second way with 1 Mb/s; two replicas at the
// first, one at the last, on access links of 1 ms one way and 8 Mb/s.
Topology three_in_a_row() {
  Topology topology(3);
  const int a = topology.add_router("a"), b = topology.add_router("b"), c = topology.add_router("c");
  topology.add_link({"a-b", a, b, 5e6, 5e6, 0.010});
  topology.add_link({"b-c", b, c, 1e6, 2e6, 0.020});
  topology.add_link({"replica0-a", 0, a, 8e6, 8e6, 0.001});
  topology.add_link({"replica1-c", 1, c, 8e6, 8e6, 0.001});
  topology.add_link({"replica2-a", 2, a, 8e6, 8e6, 0.001});
  topology.set_sites({0, 1, 0});
  return topology;
}

TEST(SiteMatrix, FollowsTheRoutes) {
  const SiteMatrix matrix = site_matrix(three_in_a_row());
  EXPECT_EQ(matrix.sites, (std::vector<std::string>{"a", "c"}));
  EXPECT_DOUBLE_EQ(matrix.rtt_s[0][1], 2 * (0.001 + 0.010 + 0.020 + 0.001));
  EXPECT_DOUBLE_EQ(matrix.rtt_s[1][0], matrix.rtt_s[0][1]);
  EXPECT_DOUBLE_EQ(matrix.rtt_s[0][0], 2 * (0.001 + 0.001));
  EXPECT_EQ(matrix.throughput_bps[0][1], 1e6);  // b to c
  EXPECT_EQ(matrix.throughput_bps[1][0], 2e6);  // c to b
  EXPECT_EQ(matrix.throughput_bps[0][0], 8e6);
}

TEST(SiteMatrix, KnowsNothingOfAReplicaAlone) {
  const SiteMatrix matrix = site_matrix(three_in_a_row());
  EXPECT_TRUE(std::isnan(matrix.rtt_s[1][1]));
  EXPECT_TRUE(std::isnan(matrix.throughput_bps[1][1]));
}

TEST(SiteMatrix, TakesTheCapOfAConnection) {
  Topology topology = three_in_a_row();
  topology.set_connection_caps({0, 1, 0}, {{3e6, 4e5}, {4e5, 3e6}});
  const SiteMatrix matrix = site_matrix(topology);
  EXPECT_EQ(matrix.throughput_bps[0][1], 4e5);
  EXPECT_EQ(matrix.throughput_bps[0][0], 3e6);
}

TEST(SiteMatrix, IsEmptyWithoutSites) {
  Topology topology(2);
  const int core = topology.add_router("core");
  topology.add_link({"replica0-core", 0, core, 1e6, 1e6, 0});
  topology.add_link({"replica1-core", 1, core, 1e6, 1e6, 0});
  EXPECT_TRUE(site_matrix(topology).sites.empty());
  EXPECT_EQ(routers_of_replicas(topology), (std::vector<int>{core, core}));
}

// Light in fibre takes 1 ms for 200 km: no pair of the measured matrices answers sooner over the great
// circle between the cities that stand for its regions. A wrong sign or a wrong city would.
TEST(Coordinates, NoRoundTripIsFasterThanLightInFibre) {
  for (const char* name : {"aws-2022", "gcp-2025"}) {
    const Matrix matrix = load_matrix(name, ".");
    ASSERT_EQ(matrix.places().of.size(), matrix.sites().size()) << name;
    for (const std::string& text : matrix.sites())
      for (const std::string& other : matrix.sites()) {
        if (text == other) continue;
        const double km = great_circle_km(matrix.places().of.at(text), matrix.places().of.at(other));
        EXPECT_GE(matrix.between(text, other).rtt, 2 * km / 200e3) << name << ": " << text << ", " << other;
      }
  }
}

}  // namespace longhaul::site_matrix_test
