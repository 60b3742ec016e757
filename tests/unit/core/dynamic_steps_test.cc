// Who takes which steps of a round, by hand and against the definition.
#include "core/plan/dynamic_steps.h"

#include <gtest/gtest.h>

#include "tests/support/traces.h"

namespace longhaul::dynamic_steps_test {

using Counts = std::vector<int>;

TEST(DynamicSteps, AreTheShareOfTheFastestThatFitsIn) {
  EXPECT_EQ(dynamic_steps(8, {1, 2, 4}).taken, (Counts{8, 4, 2}));
  EXPECT_EQ(dynamic_steps(50, {2.5, 1, 1.2, 3}).taken, (Counts{20, 50, 41, 16})) << "41.67 and 16.67 are cut";
  EXPECT_EQ(dynamic_steps(20, {3, 1.5, 2}).taken, (Counts{10, 20, 15})) << "of the fastest there is";
  EXPECT_EQ(dynamic_steps(4, {1, 100}).taken, (Counts{4, 1})) << "one at least";
  EXPECT_EQ(dynamic_steps(1, {1, 2}).taken, Counts{}) << "of one step nobody takes less";
}

// 0.7 · 6 / 2.1 is 2 and 1.9999999999999996 in floating point; 0.1 · 30 / 0.3 is 10.
TEST(DynamicSteps, DecimalFactorsAreNotRoundedDown) {
  EXPECT_EQ(dynamic_steps(6, {0.7, 2.1}).taken, (Counts{6, 2}));
  EXPECT_EQ(dynamic_steps(30, {0.3, 0.1}).taken, (Counts{10, 30}));
  for (int most = 1; most <= 200; ++most)
    for (int tenths = 1; tenths <= 60; ++tenths) {
      const DynamicSteps steps = dynamic_steps(most, {0.1, tenths / 10.});
      EXPECT_EQ(steps.is_on() ? steps.taken[1] : most, std::max(1, most / tenths)) << most << " " << tenths;
    }
  const int billion = 1000000000;
  EXPECT_EQ(dynamic_steps(billion, {1, 1.5}).taken, (Counts{billion, 666666666}));
}

TEST(DynamicSteps, AreOffWhereAllTakeAll) {
  for (const std::vector<double>& factors :
       std::vector<std::vector<double>>{{}, {3, 3, 3}, {0, 0}, {1, 1.000000000000001}})
    EXPECT_FALSE(dynamic_steps(20, factors).is_on());
  const DynamicSteps off;
  EXPECT_TRUE(off.takes(7, 3));
  EXPECT_EQ(off.taken_until(7, 12), 12);
  EXPECT_EQ(off.taken_by_all(3, 12), 36);
}

// Of H = 8: all; 2, 4, 6, 8; 4, 8; of three the steps ceil(8/3), ceil(16/3) and 8.
TEST(DynamicSteps, AreSpreadOverTheRound) {
  const DynamicSteps steps{8, {8, 4, 2, 3}};
  const std::vector<Counts> expected = {{1, 2, 3, 4, 5, 6, 7, 8}, {2, 4, 6, 8}, {4, 8}, {3, 6, 8}};
  for (int replica = 0; replica < 4; ++replica)
    for (const int round : {0, 1, 5}) {
      Counts taken;
      for (int number = 1; number <= 8; ++number)
        if (steps.takes(replica, round * 8 + number)) taken.push_back(number);
      EXPECT_EQ(taken, expected[static_cast<std::size_t>(replica)]) << round;
    }
  EXPECT_EQ(steps.taken_until(3, 0), 0);
  EXPECT_EQ(steps.taken_until(3, 8 + 5), 3 + 1);
  EXPECT_EQ(steps.taken_until(2, 3 * 8 + 7), 3 * 2 + 1);
  EXPECT_EQ(steps.taken_by_all(4, 12), (8 + 4) + (4 + 2) + (2 + 1) + (3 + 1));
  const int most = 1000000000;  // 2^30 · 2^30 does not fit an int
  const DynamicSteps long_rounds{most, {most, 999999999}};
  EXPECT_EQ(long_rounds.taken_until(1, most), 999999999);
  EXPECT_FALSE(long_rounds.takes(1, 1));
  EXPECT_TRUE(long_rounds.takes(1, most));
}

TEST(DynamicSteps, StandInTheTrace) {
  OperationPlan plan{{rule_of("outer", "ring", 8)}};
  const auto written = [&] { return text_of(make_trace(plan, {1, 3, 16, 1000})); };
  EXPECT_EQ(written().find("dynamic"), std::string::npos) << "a trace without them is as it was";
  plan.dynamic_steps = {8, {8, 4, 2}};
  const Trace read = trace_from(written());
  EXPECT_EQ(read.plan.dynamic_steps.every, 8);
  EXPECT_EQ(read.plan.dynamic_steps.taken, (Counts{8, 4, 2}));
}

}  // namespace longhaul::dynamic_steps_test
