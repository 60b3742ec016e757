// Slow replicas that take fewer steps, by hand: messages take 0.3 s, so a ring of three 2 · 2 · 0.3 s, and a
// step takes 1 s times the replica's factor.
#include "core/plan/dynamic_steps.h"

#include <gtest/gtest.h>

#include "tests/unit/replay/membership_cases.h"

namespace longhaul::dynamic_steps_test {

constexpr double kMessage_s = 0.3, kRing_s = 4 * kMessage_s;

Case case_of(int steps, const std::vector<double>& factors, double message_s = kMessage_s) {
  Case config = drawn_case(static_cast<int>(factors.size()), message_s, 0, false);
  config.workload.steps = steps;
  config.workload.step_time_factors = factors;
  return config;
}

OperationPlan plan_of_rounds(int every, const std::vector<int>& taken) {
  OperationPlan plan{{rule_of("ring", every)}};
  plan.dynamic_steps = {every, taken};
  return plan;
}

// By step and replica: the clock after the step's compute.
std::map<std::pair<int, int>, double> clocks_of(const Replayed& replayed) {
  std::map<std::pair<int, int>, double> clocks;
  for (const auto& row : rows_of(replayed, "steps.csv"))
    clocks[{std::stoi(row[0]), std::stoi(row[1])}] = std::stod(row[2]);
  return clocks;
}

// 8 · 1 = 4 · 2 = 2 · 4 s: all are ready together, and a round is 8 s and the ring.
TEST(DynamicStepsReplay, AllEndARoundTogether) {
  const Case config = case_of(24, {1, 2, 4});
  const Replayed all = walked(config, plan_of_rounds(8, {8, 4, 2}));
  for (int round = 1; round <= 3; ++round)
    for (int replica = 0; replica < 3; ++replica) {
      const double done_s = round * (8 + kRing_s), ready_s = done_s - kRing_s;
      expect_row(all, 8 * round, replica, ready_s, ready_s, done_s);
    }
  EXPECT_NEAR(simulated_s(all), 3 * (8 + kRing_s), 1e-9);
  for (const auto& row : rows_of(all, "replicas.csv")) {
    EXPECT_NEAR(std::stod(row[1]), 24, 1e-9) << "computed";
    EXPECT_NEAR(std::stod(row[2]), 3 * kRing_s, 1e-9) << "idle";
  }
  // Without them the slow one takes 32 s a round.
  EXPECT_NEAR(simulated_s(walked(config, OperationPlan{{rule_of("ring", 8)}})), 3 * (32 + kRing_s), 1e-9);
  // Buckets of the last step, which all take, are released during its backward pass: the first one when a
  // quarter of it is left, last of all by the fastest, 0.25 s before 8 s; the second follows it, and messages
  // take 0.3 s however long they are.
  OperationPlan plan = plan_of_rounds(8, {8, 4, 2});
  plan.rules[0].overlap_backward = 0.5, plan.rules[0].buckets = 2;
  EXPECT_NEAR(walked(config, plan).row(8, 0).done_s, 8 - 0.25 + 2 * kRing_s, 1e-9);
}

// Of 8 steps one that is three times slower takes 2, one that is 1.5 times slower 5: 6 and 7.5 s of 8. They
// take the steps 4 and 8; 2, 4, 5, 7 and 8 (ceil of 1.6, 3.2, 4.8, 6.4 and 8).
TEST(DynamicStepsReplay, ClocksGoOnWithTheStepsThatAreTaken) {
  const Replayed result = walked(case_of(10, {3, 1, 1.5}), plan_of_rounds(8, {2, 8, 5}));
  const std::vector<std::vector<double>> expected = {
      {0, 0, 0, 3, 3, 3, 3, 6}, {1, 2, 3, 4, 5, 6, 7, 8}, {0, 1.5, 1.5, 3, 4.5, 4.5, 6, 7.5}};
  // Two steps more: of a round that does not end, replica 2 takes one and replica 0 none.
  const double left_s[] = {0, 2, 1.5};
  const auto clocks = clocks_of(result);
  for (int replica = 0; replica < 3; ++replica) {
    for (int step = 1; step <= 8; ++step)
      EXPECT_NEAR(clocks.at({step, replica}), expected[as_index(replica)][as_index(step - 1)], 1e-9)
          << step << " " << replica;
    EXPECT_NEAR(clocks.at({10, replica}), result.row(8, replica).done_s + left_s[replica], 1e-9);
  }
}

// Drawn times are those of the steps that are taken, the same as without.
TEST(DynamicStepsReplay, DrawnTimesBelongToTheirSteps) {
  Case config = case_of(4, {1, 2});
  config.workload.step_time = {StepTime::Kind::kLognormal, 0, 0.3, 0.4};
  const auto all = clocks_of(walked(config, OperationPlan{{rule_of("ring", 4)}})),
             taken = clocks_of(walked(config, plan_of_rounds(4, {4, 2})));
  const auto time_of = [](const auto& clocks, int step) {
    return clocks.at({step, 1}) - (step > 1 ? clocks.at({step - 1, 1}) : 0);
  };
  for (const int step : {2, 4}) EXPECT_NEAR(time_of(taken, step), time_of(all, step), 1e-12);
  for (const int step : {1, 3}) EXPECT_EQ(time_of(taken, step), 0);
}

// Replica 1 takes the steps 2 and 4 of a round of 4, 2 s each, and crashes in the second one at 3 s. The
// others know at 3.25 s and begin the second round at 4 s. It is back at 5.5 s with its own state, and takes
// the steps 6 and 8 of that round and both of the third.
TEST(DynamicStepsReplay, OneWhoCrashesTakesItsStepsWhenItIsBack) {
  Case config = case_of(12, {1, 2, 1}, 0);
  config.faults = {crash_of(1, 3, 2.5)};
  config.recovery.detect_s = 0.25;
  config.recovery.downloads_state = false;
  const Replayed result = walked(config, plan_of_rounds(4, {4, 2, 4}));
  EXPECT_EQ(at(rows_of(result, "absences.csv").at(0), {1, 9}), (Cells{"4", "6"}))
      << "the step that it was taking, and where those who are there are at 5.5 s";
  const auto groups = groups_of_steps(result);
  EXPECT_EQ(groups.at(4), (std::vector<int>{0, 2}));
  EXPECT_EQ(groups.at(8), (std::vector<int>{0, 1, 2}));
  // Step 2 was lost with the crash, and so were its 2 s, and one of step 4; 6, 8, 10 and 12 count.
  EXPECT_EQ(totals_of(result, 1), (Cells{"4", "3"}));
  EXPECT_EQ(totals_of(result, 0)[0], "12");
  // It takes step 6 from 5.5 to 7.5 s and step 8 to 9.5 s; then a round is 4 s.
  EXPECT_NEAR(result.row(8, 0).done_s, 9.5, 1e-9);
  EXPECT_NEAR(simulated_s(result), 13.5, 1e-9);
  // Where all wait for it, it takes step 4 once more.
  config.recovery.on_failure = OnFailure::kWait;
  config.workload.steps = 10;
  const Replayed waited = walked(config, plan_of_rounds(4, {4, 2, 4}));
  EXPECT_NEAR(waited.row(4, 0).done_s, 5.5 + 2, 1e-9);
  EXPECT_NEAR(simulated_s(waited), 7.5 + 4 + 2, 1e-9);
  EXPECT_EQ(totals_of(waited, 1), (Cells{"5", "1"})) << "two of each round, one of the half; half of step 4";
  EXPECT_EQ(totals_of(waited, 0)[0], "10");
}

}  // namespace longhaul::dynamic_steps_test
