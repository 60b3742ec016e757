#include "planner/extrapolation.h"

#include <gtest/gtest.h>

namespace longhaul {
namespace {

OperationPlan plan_with(std::initializer_list<int> cadences, Grouping grouping = Grouping::kEveryone) {
  OperationPlan plan;
  for (const int every : cadences) {
    OperationRule rule;
    rule.every = every;
    rule.grouping = grouping;
    plan.rules.push_back(rule);
  }
  return plan;
}

TEST(Extrapolation, RepeatsAfterTheLeastCommonMultiple) {
  EXPECT_EQ(period_of(plan_with({})), 1);
  EXPECT_EQ(period_of(plan_with({100})), 100);
  EXPECT_EQ(period_of(plan_with({4, 6})), 12);
}

// The steps that are left out are whole periods: what is replayed ends as the whole ends.
TEST(Extrapolation, LeavesOutWholePeriods) {
  for (const int steps : {401, 450, 1000, 47684}) {
    const int replayed = steps_to_replay(plan_with({100}), steps);
    EXPECT_LE(replayed, steps);
    EXPECT_EQ((steps - replayed) % 100, 0) << steps;
    EXPECT_GE(replayed, 400) << steps;
  }
  EXPECT_EQ(steps_to_replay(plan_with({100}), 250), 250) << "all of them";
  EXPECT_EQ(steps_to_replay(plan_with({1}), 47684), 40);
  EXPECT_EQ(steps_to_replay(plan_with({100}, Grouping::kRandom), 47684), 1284);
}

// Clocks of 12, 22, 32 after periods of 5 steps, 36 at the end of 17: the 10 periods to 67 steps take 10 s
// each.
TEST(Extrapolation, IsExactWherePeriodsAreEqual) {
  const TrainingTime time = training_time({12, 22, 32}, 36, 5, 17, 67);
  EXPECT_DOUBLE_EQ(time.total_s, 136);
  EXPECT_TRUE(time.is_exact);
  EXPECT_EQ(time.standard_error_s, 0);
  EXPECT_EQ(time.outer_steps, 3);
}

// Periods of 8, 12 and 10 s after the first: mean 10, standard deviation 2, error of the mean 2/√3.
TEST(Extrapolation, TakesTheMeanWherePeriodsAreDrawn) {
  const TrainingTime time = training_time({20, 28, 40, 50}, 50, 5, 20, 520);
  EXPECT_DOUBLE_EQ(time.total_s, 50 + 100 * 10);
  EXPECT_NEAR(time.standard_error_s, 100 * 2 / std::sqrt(3.), 1e-9);
  EXPECT_FALSE(time.is_exact);
}

TEST(Extrapolation, OfAWholeReplayIsItsEnd) {
  const TrainingTime time = training_time({20, 28}, 31, 5, 12, 12);
  EXPECT_EQ(time.total_s, 31);
  EXPECT_TRUE(time.is_exact);
}

}  // namespace
}  // namespace longhaul
