// One slow link, one slow replica: what changes, and what stays as it was.
#include "net/overrides.h"

#include <gtest/gtest.h>

#include "core/base/index.h"
#include "net/topologies/registry.h"
#include "tests/unit/net/cases.h"

namespace longhaul::overrides_test {

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

TEST(Overrides, APathIsChosenAfterThem) {
  Topology topology(2, Routing::kLeastDelay);
  const int middle = topology.add_router("middle");
  topology.add_link({"direct", 0, 1, 1e9, 1e9, 0.01});
  topology.add_link({"first", 0, middle, 1e9, 1e9, 0.02});
  topology.add_link({"second", middle, 1, 1e9, 1e9, 0.02});
  EXPECT_EQ(topology.path(0, 1).directions.size(), 1u);
  apply_overrides({of_link("direct", {}, {}, 0.1)}, topology);
  EXPECT_EQ(topology.path(0, 1).directions.size(), 2u);
}

}  // namespace longhaul::overrides_test
