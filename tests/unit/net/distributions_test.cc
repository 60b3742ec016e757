// Along which ways a version of the weights goes: trees drawn by hand.
#include <gtest/gtest.h>

#include <numeric>

#include "net/distributions/distribution.h"
#include "net/topologies/registry.h"
#include "tests/support/said.h"
#include "tests/unit/net/cases.h"

namespace longhaul {
namespace {

// Hosts: trainers 0 … workers − 1, then the groups, then a store.
Case rollout_case(int workers, int groups, const std::string& distribution, int sources = 1) {
  Case config = star_case(workers, 1e9, 0);
  RolloutSpec rollouts;
  rollouts.groups = groups;
  rollouts.weights.distribution = distribution;
  rollouts.weights.sources = sources;
  rollouts.weights.bytes = 100;
  config.rollouts = rollouts;
  return config;
}

using Edges = std::vector<std::pair<int, int>>;
Edges edges_of(const WeightTree& tree) {
  Edges edges;
  for (int from = 0; from < static_cast<int>(tree.next.size()); ++from)
    for (const int to : tree.next[static_cast<std::size_t>(from)]) edges.push_back({from, to});
  return edges;
}

Edges first_tree(const Case& config, const std::vector<int>& site_of = {}) {
  return edges_of(weight_trees(config, site_of).front());
}

TEST(WeightDistributions, WithoutSites) {
  EXPECT_EQ(first_tree(rollout_case(1, 3, "broadcast")), (Edges{{0, 1}, {0, 2}, {0, 3}}));
  EXPECT_EQ(first_tree(rollout_case(1, 3, "chain")), (Edges{{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_EQ(first_tree(rollout_case(1, 6, "relay-tree")),
            (Edges{{0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 5}, {2, 6}}));
  EXPECT_EQ(first_tree(rollout_case(1, 2, "store")), (Edges{{0, 3}, {3, 1}, {3, 2}}));
  Case wide = rollout_case(1, 4, "relay-tree");
  wide.rollouts->weights.fan_out = 3;
  EXPECT_EQ(first_tree(wide), (Edges{{0, 1}, {0, 2}, {0, 3}, {1, 4}}));
}

// One group of each far site is its relay; those at the source's site are below the source. A chain takes
// each way between sites once.
TEST(WeightDistributions, WithSites) {
  const std::vector<int> site_of = {0, 0, 1, 2, 1, 2, 2};  // trainer, groups 1 … 6
  EXPECT_EQ(first_tree(rollout_case(1, 6, "relay-tree"), site_of),
            (Edges{{0, 2}, {0, 3}, {0, 1}, {2, 4}, {3, 5}, {3, 6}}));
  EXPECT_EQ(first_tree(rollout_case(1, 6, "chain"), site_of),
            (Edges{{0, 1}, {1, 2}, {2, 4}, {3, 5}, {4, 3}, {5, 6}}));
}

// Parts of the sources begin at other groups, and add up; each group is in each tree once.
TEST(WeightDistributions, PartsOfSeveralSources) {
  for (const WeightDistribution& distribution : weight_distributions())
    for (const int sources : {1, 2, 3, 4}) {
      const Case config = rollout_case(4, 5, distribution.name, sources);
      const std::vector<WeightTree> trees = weight_trees(config, {});
      ASSERT_EQ(static_cast<int>(trees.size()), sources);
      std::int64_t bytes = 0;
      for (int part = 0; part < sources; ++part) {
        const WeightTree& tree = trees[static_cast<std::size_t>(part)];
        EXPECT_EQ(tree.source, part * 4 / sources);
        bytes += tree.bytes;
        std::vector<int> received(static_cast<std::size_t>(config.hosts()));
        for (const auto& [from, to] : edges_of(tree)) ++received[static_cast<std::size_t>(to)];
        for (int host = 0; host < config.hosts(); ++host)
          EXPECT_EQ(received[static_cast<std::size_t>(host)], host >= config.workers()) << distribution.name;
      }
      EXPECT_EQ(bytes, config.rollouts->weights.bytes);
    }
  const Case two = rollout_case(2, 4, "chain", 2);
  EXPECT_EQ(edges_of(weight_trees(two, {})[1]), (Edges{{1, 4}, {2, 3}, {4, 5}, {5, 2}}));
}

TEST(WeightDistributions, NamesAndConnections) {
  const Case config = rollout_case(1, 2, "store");
  EXPECT_EQ(weight_connections(config, {}), (Edges{{0, 3}, {1, 3}, {2, 3}, {3, 1}, {3, 2}}));
  const Topology topology = build_topology(config);
  EXPECT_EQ(topology.replicas(), 4);
  EXPECT_EQ(topology.node_name(0), "replica0");
  EXPECT_EQ(topology.node_name(2), "rollout1");
  EXPECT_EQ(topology.node_name(3), "store");
  EXPECT_EQ(topology.links()[2].name, "rollout1-core");
}

// Groups stand where the section says, a store has a rate of its own.
TEST(WeightDistributions, PlacesOnTopologiesWithSites) {
  Case config = rollout_case(2, 3, "store");
  config.network.topology =
      hierarchical_spec({{"home", 2}, {"away", 0}, {"far", 0}}, access_section(1e9, 1e9, 0.001),
                        access_section(1e8, 1e8, 0.05));
  config.rollouts->places = {{"far", 1}, {"home", 2}};
  config.rollouts->weights.store.site = "far";
  config.rollouts->weights.store.rate = 5e9;
  const Topology topology = build_topology(config);
  EXPECT_EQ(topology.site_of(), (std::vector<int>{0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(topology.links()[5].name, "store-far");
  EXPECT_EQ(topology.links()[5].rate_forward, 5e9);
  EXPECT_EQ(topology.links()[4].rate_forward, 1e9);
  config.rollouts->places = {{"nowhere", 3}};
  EXPECT_SAYS(said_by([&] { build_topology(config); }), "rollouts.sites.nowhere");
  config.rollouts->places.clear();
  EXPECT_SAYS(said_by([&] { build_topology(config); }), "rollouts.sites: this key is missing");
}

}  // namespace
}  // namespace longhaul
