#include "planner/extrapolation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace longhaul::extrapolation_test {

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
  OperationPlan across = plan_with({10}, Grouping::kTwoLevel);
  across.rules[0].across_every = 4;
  EXPECT_EQ(period_of(across), 40) << "of four exchanges one goes across sites";
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
  EXPECT_EQ(steps_to_replay(plan_with({1}), 47684), 16);
  EXPECT_EQ(steps_to_replay(plan_with({100}, Grouping::kRandom), 47684), 1384);
}

// Clocks of 12, 22, 32 after periods of 5 steps, 36 at the end of 17: 10 periods of 10 s lead to 67 steps.
TEST(Extrapolation, IsExactWherePeriodsAreEqual) {
  const TrainingTime time = training_time({12, 22, 32}, 36, 5, 1, 17, 67);
  EXPECT_DOUBLE_EQ(time.total_s, 136);
  EXPECT_TRUE(time.is_exact);
  EXPECT_EQ(time.standard_error_s, 0);
  EXPECT_EQ(time.outer_steps, 3);
  const TrainingTime whole = training_time({20, 28}, 31, 5, 1, 12, 12);
  EXPECT_EQ(whole.total_s, 31) << "its end";
  EXPECT_TRUE(whole.is_exact);
}

// Periods of 8, 12 and 10 s after the first: mean 10, standard deviation 2, error of the mean 2/√3.
TEST(Extrapolation, TakesTheMeanWherePeriodsAreDrawn) {
  const TrainingTime time = training_time({20, 28, 40, 50}, 50, 5, 1, 20, 520);
  EXPECT_DOUBLE_EQ(time.total_s, 50 + 100 * 10);
  EXPECT_NEAR(time.standard_error_s, 100 * 2 / std::sqrt(3.), 1e-9);
  EXPECT_FALSE(time.is_exact);
}

// A warm-up of 12 steps is three periods of 5: four more are replayed, and those three stand for none.
TEST(Extrapolation, ReplaysWhatComesAfterAWarmUp) {
  OperationPlan plan = plan_with({5, 1});
  plan.rules[1].last_step = 12;
  EXPECT_EQ(settling_steps(plan), 12);
  EXPECT_EQ(steps_to_replay(plan_with({5}), 1003), 23);
  EXPECT_EQ(steps_to_replay(plan, 1003), 33);
  EXPECT_EQ(steps_to_screen(plan, 1003), 23);
  const TrainingTime time = training_time({90, 180, 230, 240, 251, 260}, 260, 5, 3, 30, 130);
  EXPECT_DOUBLE_EQ(time.total_s, 260 + 20 * 10);
  EXPECT_FALSE(time.is_exact);
}

}  // namespace longhaul::extrapolation_test
