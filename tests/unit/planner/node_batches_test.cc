// Batches of unlike nodes by hand, and beside every other way to share a few units.
#include "planner/node_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

namespace longhaul::node_batches_test {

using Units = std::vector<std::int64_t>;

// Four times as fast, four times as many: 4 nodes have 4 · 1000 together.
TEST(NodeBatches, AreInProportionToSpeed) {
  EXPECT_EQ(units_by_speed({2, 2, 0.5, 0.5}, 1000), (Units{400, 400, 1600, 1600}));
  EXPECT_EQ(units_by_speed({1, 1, 1}, 7), (Units{7, 7, 7}));
  EXPECT_EQ(units_by_speed({0.5, 0.5, 1, 1}, 100), (Units{134, 134, 66, 66}));
}

// Of 2 · 2 units a node that takes a thousand times as long still has one.
TEST(NodeBatches, EachHasOne) {
  EXPECT_EQ(units_by_speed({1000, 1}, 2), (Units{1, 3}));
  EXPECT_EQ(units_by_speed({1, 1000, 1000}, 1), (Units{1, 1, 1}));
}

double longest(const std::vector<double>& step_s, const Units& units) {
  double longest_s = 0;
  for (std::size_t i = 0; i < units.size(); ++i)
    longest_s = std::max(longest_s, step_s[i] * static_cast<double>(units[i]));
  return longest_s;
}

TEST(NodeBatches, NoOtherWayIsShorter) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> draw(0.1, 5);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t nodes = 2 + trial % 3;
    const std::int64_t units = 1 + trial % 5, all = units * static_cast<std::int64_t>(nodes);
    std::vector<double> step_s(nodes);
    for (double& one : step_s) one = draw(random);
    const Units found = units_by_speed(step_s, units);
    ASSERT_EQ(std::accumulate(found.begin(), found.end(), std::int64_t{0}), all);
    ASSERT_GE(*std::min_element(found.begin(), found.end()), 1);
    double least_s = 1e9;
    Units tried(nodes, 1);
    const std::function<void(std::size_t, std::int64_t)> share = [&](std::size_t node, std::int64_t left) {
      if (node + 1 == nodes) {
        tried[node] = left;
        least_s = std::min(least_s, longest(step_s, tried));
        return;
      }
      for (tried[node] = 1; left - tried[node] >= static_cast<std::int64_t>(nodes - node - 1); ++tried[node])
        share(node + 1, left - tried[node]);
    };
    share(0, all);
    EXPECT_DOUBLE_EQ(longest(step_s, found), least_s) << trial;
  }
}

TEST(NodeBatches, AreWholeSequencesOfAllAccelerators) {
  EXPECT_EQ(unit_of_batches(65536, 1024, 8), 8192);
  EXPECT_EQ(unit_of_batches(65536 + 1024, 1024, 8), 1024);
  EXPECT_EQ(unit_of_batches(1000, 1024, 8), 1);
  EXPECT_EQ(unit_of_batches(1000, 0, 8), 1);
}

}  // namespace longhaul::node_batches_test
