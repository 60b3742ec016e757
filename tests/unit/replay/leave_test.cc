// Replicas that leave in order and join later, by hand: nobody waits for them, and nothing is lost.
#include <gtest/gtest.h>

#include "core/base/errors.h"
#include "replay/membership.h"
#include "tests/unit/replay/membership_cases.h"

namespace longhaul::leave_test {

using Cells = std::vector<std::string>;

constexpr double kForEver_s = std::numeric_limits<double>::infinity();

// Replica 0 leaves at `at_s` and is back `for_s` later; that the others know of a crash takes for ever.
Case with_leave(int replicas, int steps, OnFailure on_failure, double at_s, double for_s = kForEver_s) {
  Case config = with_crash(replicas, steps, on_failure, at_s, for_s);
  config.faults = {absence_fault(0, {0, 0}, {at_s, 0, for_s}, Fault::Absence::kLeave)};
  config.recovery.detect_s = 1e6;
  return config;
}

// Of replica 0: seconds that it computed, steps in the model, seconds lost and gone.
using Totals = Cells;
Totals totals_of(const Replayed& replayed) {
  return at(rows_of(replayed, "replicas.csv")[0], {1, 5, 6, 7});
}

TEST(Leave, ItGoesBehindItsStep) {
  for (const OnFailure policy : {OnFailure::kRetry, OnFailure::kDiscard}) {
    const Case config = with_leave(3, 5, policy, 2.5);
    const Replayed replayed = run_with(analytic_replay, config, trace_of_rule(gradients(), 3, 5));
    EXPECT_NEAR(simulated_s(replayed), 5, 1e-6) << "nobody waits";
    const auto groups = groups_of_steps(replayed);
    EXPECT_EQ(groups.at(3), (std::vector<int>{0, 1, 2}));
    for (const int step : {4, 5}) EXPECT_EQ(groups.at(step), (std::vector<int>{1, 2})) << step;
    EXPECT_EQ(replayed.report.at("thrown_away_steps"), 0);
    const auto absences = rows_of(replayed, "absences.csv");
    ASSERT_EQ(absences.size(), 1u);
    EXPECT_EQ(absences[0], (Cells{"0", "4", "3", "", "-1", "0", "0", "", "", "0", "3"}));
    EXPECT_EQ(totals_of(replayed), (Totals{"3", "3", "0", "2"}));
    EXPECT_EQ(rows_of(replayed, "faults.csv")[0], (Cells{"0", "leave", "replica 0", "2.5", "5"}));
  }
}

// Exchanges at steps 4 and 8. It leaves at 1.5 s.
TEST(Leave, ItGoesBehindTheNextExchange) {
  const Trace trace = trace_of_rule(rule_of("ring", 4), 3, 8);
  const Replayed shared = run_with(analytic_replay, with_leave(3, 8, OnFailure::kRetry, 1.5), trace);
  EXPECT_EQ(groups_of_steps(shared).at(4), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(groups_of_steps(shared).at(8), (std::vector<int>{1, 2}));
  EXPECT_EQ(at(rows_of(shared, "absences.csv")[0], {1, 2}), (Cells{"5", "4"})) << "it does not take step 5";
  EXPECT_EQ(at(rows_of(shared, "replicas.csv")[0], {5, 6}), (Cells{"4", "0"}));
  EXPECT_NEAR(simulated_s(shared), 8, 1e-6);
}

// Messages take half a second, four rounds 2 s: what it posted at 2 s is over at 4 s, while the others
// compute.
TEST(Leave, ItStaysForARunningExchange) {
  OperationRule rule = rule_of("ring", 2);
  rule.overlap_steps = 2;
  Case config = with_leave(3, 6, OnFailure::kRetry, 1.5);
  config.network.message_time = MessageTimeSpec{0.5, 0};
  const Replayed replayed = run_with(analytic_replay, config, trace_of_rule(rule, 3, 6));
  EXPECT_EQ(groups_of_steps(replayed).at(2), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(groups_of_steps(replayed).at(4), (std::vector<int>{1, 2}));
  const auto absence = rows_of(replayed, "absences.csv").at(0);
  EXPECT_EQ(at(absence, {1, 2}), (Cells{"3", "4"}));
  const ExchangeRecord& row = replayed.row(2, 0);
  EXPECT_DOUBLE_EQ(row.ready_s, 2);
  EXPECT_DOUBLE_EQ(row.done_s, 4);
  EXPECT_DOUBLE_EQ(row.awaited_s, 2) << "it has nothing else to do";
  const Cells totals = rows_of(replayed, "replicas.csv")[0];
  EXPECT_EQ(at(totals, {1, 2, 3}), (Cells{"2", "2", "4"})) << "computed, stood still, its clock";
  EXPECT_EQ(at(totals, {5, 6}), (Cells{"2", "0"})) << "steps in the model, lost";
}

// Gone from 3 s, when step 3 is over, to 4.5 s: then as after a crash, with a download of 1.25 s.
TEST(Leave, ItComesBackAsAfterACrash) {
  Case config = with_leave(3, 7, OnFailure::kRetry, 2.5, 2);
  OperationRule rule = gradients();
  prepare_download(config, rule);
  const Replayed replayed = run_with(analytic_replay, config, trace_of_rule(rule, 3, 7));
  EXPECT_NEAR(replayed.row(3, 0).done_s, 3, 0.01);
  EXPECT_NEAR(replayed.row(5, 1).done_s, 5.75, 0.01) << "step 5 waits for the listener";
  EXPECT_NEAR(simulated_s(replayed), 7.75, 0.02);
  EXPECT_EQ(groups_of_steps(replayed).at(5), (std::vector<int>{1, 2}));
  EXPECT_EQ(groups_of_steps(replayed).at(6), (std::vector<int>{0, 1, 2}));
  const Cells absence = rows_of(replayed, "absences.csv").at(0);
  EXPECT_EQ(at(absence, {1, 3, 6, 9}), (Cells{"4", "4.5", "12000", "6"}));
  EXPECT_NEAR(std::stod(absence[2]), 3, 0.01);
}

// It joins at 2.5 s, listens to step 3, and begins with step 4 at 3 s.
TEST(Leave, OneThatLeavesAtTheBeginningWasNeverThere) {
  for (const OnFailure policy : {OnFailure::kRetry, OnFailure::kDiscard}) {
    const Case config = with_leave(3, 6, policy, 0, 2.5);
    const Replayed replayed = run_with(analytic_replay, config, trace_of_rule(gradients(), 3, 6));
    EXPECT_NEAR(simulated_s(replayed), 6, 1e-6);
    EXPECT_EQ(replayed.report.at("thrown_away_steps"), 0);
    const auto groups = groups_of_steps(replayed);
    for (const int step : {1, 2, 3}) EXPECT_EQ(groups.at(step), (std::vector<int>{1, 2})) << step;
    for (const int step : {4, 5, 6}) EXPECT_EQ(groups.at(step), (std::vector<int>{0, 1, 2})) << step;
    const auto absence = rows_of(replayed, "absences.csv").at(0);
    EXPECT_EQ(at(absence, {1, 2, 3}), (Cells{"1", "0", "2.5"}));
    EXPECT_EQ(at(absence, {5, 8, 9, 10}), (Cells{"3", "3", "4", "0"})) << "the state behind step 3";
    EXPECT_EQ(totals_of(replayed), (Totals{"3", "3", "0", "3"}));
  }
}

// Gone from 3 to 4.5 s; the others end step 4 with it, at 5.5 s. No step is taken twice.
TEST(Leave, OrAllWaitForIt) {
  const Case config = with_leave(3, 4, OnFailure::kWait, 2.5, 2);
  const Replayed replayed = run_with(analytic_replay, config, trace_of_rule(gradients(), 3, 4));
  EXPECT_NEAR(simulated_s(replayed), 5.5, 1e-6);
  for (const auto& [step, group] : groups_of_steps(replayed)) EXPECT_EQ(group.size(), 3u) << step;
  EXPECT_EQ(rows_of(replayed, "steps.csv").size(), 12u) << "a row a step and replica";
  const auto absence = rows_of(replayed, "absences.csv").at(0);
  EXPECT_EQ(at(absence, {2, 8, 9}), (Cells{"3", "4.5", "4"}));
  EXPECT_EQ(totals_of(replayed), (Totals{"4", "4", "0", "1.5"}));
}

// From 2.25 to 2.75 s, in step 3: it has said so, goes behind it, and is back at once.
TEST(Leave, OneThatIsOverBeforeItHasGone) {
  for (const OnFailure policy : {OnFailure::kRetry, OnFailure::kWait}) {
    const Case config = with_leave(3, 6, policy, 2.25, 0.5);
    const Replayed replayed = run_with(analytic_replay, config, trace_of_rule(gradients(), 3, 6));
    EXPECT_NEAR(simulated_s(replayed), 6, 1e-6);
    const auto absences = rows_of(replayed, "absences.csv");
    ASSERT_EQ(absences.size(), 1u);
    EXPECT_EQ(at(absences[0], {2, 3}), (Cells{"3", "3"}));
    EXPECT_EQ(groups_of_steps(replayed).at(6), (std::vector<int>{0, 1, 2}));
  }
}

// Replica 1 downloads from replica 0, the only one, from 1.5 to 2.75 s; that wants to go at 2 s.
TEST(Leave, ItStaysWhileSomebodyDownloadsFromIt) {
  Case config = with_leave(2, 5, OnFailure::kRetry, 1.6);
  config.recovery.detect_s = 0.25;
  config.faults.push_back(absence_fault(1, {1, 1}, {0.5, 0, 1}));
  OperationRule rule = weights_in_pairs();
  prepare_download(config, rule);
  const Replayed replayed = run_with(analytic_replay, config, trace_of_rule(rule, 2, 5));
  const auto absences = rows_of(replayed, "absences.csv");
  ASSERT_EQ(absences.size(), 2u);
  EXPECT_EQ(absences[0][0], "1") << "is back";
  EXPECT_EQ(absences[0][4], "0") << "with the state of replica 0";
  EXPECT_NEAR(std::stod(absences[0][8]), 2.75, 0.01);
  EXPECT_EQ(absences[1][0], "0");
  EXPECT_EQ(absences[1][1], "3");
  EXPECT_NEAR(std::stod(absences[1][2]), 2.75, 0.01);
}

// It has said at 2.5 s that it goes at 3 s, and crashes at 2.75 s: half of step 3 and more is lost, and the
// others know after a quarter of a second.
TEST(Leave, OneThatCrashesBeforeItHasGone) {
  Case config = with_leave(3, 5, OnFailure::kRetry, 2.5);
  config.recovery.detect_s = 0.5;
  config.faults.push_back(absence_fault(1, {0, 0}, {2.75}));
  const Replayed replayed = run_with(analytic_replay, config, trace_of_rule(gradients(), 3, 5));
  EXPECT_NEAR(replayed.row(3, 1).done_s, 3.25, 1e-6);
  EXPECT_NEAR(simulated_s(replayed), 5.25, 1e-6);
  for (const int step : {3, 4, 5})
    EXPECT_EQ(groups_of_steps(replayed).at(step), (std::vector<int>{1, 2})) << step;
  EXPECT_EQ(rows_of(replayed, "absences.csv")[0],
            (Cells{"0", "3", "2.75", "", "-1", "0", "0", "", "", "0", "2"}));
  EXPECT_EQ(rows_of(replayed, "replicas.csv")[0][6], "0.75") << "lost";
}

TEST(Leave, AfterTheEndItChangesNoTime) {
  const Case config = with_leave(4, 5, OnFailure::kRetry, 1e6);
  for (const OperationRule& rule : {gradients(), weights_in_pairs()}) {
    const Trace trace = trace_of_rule(rule, 4, 5);
    Case without = config;
    without.faults.clear();
    expect_same_times(run_with(analytic_replay, config, trace), run_with(analytic_replay, without, trace));
  }
}

}  // namespace longhaul::leave_test
