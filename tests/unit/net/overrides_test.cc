// One slow link, one slow replica: what changes, and what stays as it was.
#include "net/overrides.h"

#include <gtest/gtest.h>

#include "net/topologies/registry.h"
#include "tests/unit/net/cases.h"

namespace longhaul::overrides_test {

LinkOverride of_link(const std::string& name) {
  LinkOverride link_override;
  link_override.link = name;
  return link_override;
}

Topology star_with(std::vector<LinkOverride> overrides) {
  Case config = star_case(4, 1e9, 0.1);
  config.network.overrides = std::move(overrides);
  return build_topology(config);
}

TEST(Overrides, OfALinkChangeThatLinkAlone) {
  LinkOverride slow = of_link("replica2-core");
  slow.up = 1e6;
  slow.delay = 0.5;
  const Topology topology = star_with({slow});
  EXPECT_DOUBLE_EQ(topology.rate(4), 1e6) << "up";
  EXPECT_DOUBLE_EQ(topology.rate(5), 1e9) << "down stays";
  EXPECT_DOUBLE_EQ(topology.rtt_s(0, 2), 2 * (0.5 + 0.025));
  EXPECT_DOUBLE_EQ(topology.rtt_s(0, 1), 0.1);
  EXPECT_DOUBLE_EQ(topology.rate(0), 1e9);
}

TEST(Overrides, OfAReplicaOrARangeChangeItsLinks) {
  LinkOverride slow;
  slow.replicas = {1, 2};
  slow.down = 2e6;
  const Topology topology = star_with({slow});
  for (int replica = 0; replica < 4; ++replica) {
    EXPECT_DOUBLE_EQ(topology.rate(2 * replica), 1e9);
    EXPECT_DOUBLE_EQ(topology.rate(2 * replica + 1), replica == 1 || replica == 2 ? 2e6 : 1e9);
  }
}

TEST(Overrides, AGlobNamesManyAndTheLastOneWins) {
  LinkOverride all = of_link("*-core"), replica_3 = of_link("replica3-core");
  all.up = all.down = 5e6;
  replica_3.up = 7e6;
  const Topology topology = star_with({all, replica_3});
  EXPECT_DOUBLE_EQ(topology.rate(0), 5e6);
  EXPECT_DOUBLE_EQ(topology.rate(6), 7e6);
  EXPECT_DOUBLE_EQ(topology.rate(7), 5e6);
}

// Up is away from the replica on whichever end of the link it stands.
TEST(Overrides, UpIsFromTheReplica) {
  Topology topology(2);
  topology.add_link({"pair", 1, 0, 1e9, 1e9, 0});
  apply_overrides({up_of(0, 3e6)}, topology);
  EXPECT_DOUBLE_EQ(topology.rate(1), 3e6) << "backward: from replica 0";
  EXPECT_DOUBLE_EQ(topology.rate(0), 1e9);
}

TEST(Overrides, APathIsChosenAfterThem) {
  Topology topology(2, Routing::kLeastDelay);
  const int middle = topology.add_router("middle");
  topology.add_link({"direct", 0, 1, 1e9, 1e9, 0.01});
  topology.add_link({"first", 0, middle, 1e9, 1e9, 0.02});
  topology.add_link({"second", middle, 1, 1e9, 1e9, 0.02});
  EXPECT_EQ(topology.path(0, 1).directions.size(), 1u);
  LinkOverride slow = of_link("direct");
  slow.delay = 0.1;
  apply_overrides({slow}, topology);
  EXPECT_EQ(topology.path(0, 1).directions.size(), 2u);
}

}  // namespace longhaul::overrides_test
