// A replica that has crashed on its way back into training, by hand: whose state it takes, from which step
// on, and what becomes of that where it or its source crashes again. Steps of 1 s times the replica's factor.
// The others know of a crash after 0.25 s. A case says how long a message takes, as a downloaded state is.
#include <gtest/gtest.h>

#include "tests/unit/replay/replayed.h"

namespace longhaul::joining_test {

// A state of 1000 parameters is 12,000 bytes.
Case case_of(const std::vector<double>& factors, int steps, double message_s, std::vector<Fault> crashes) {
  Case config = drawn_case(static_cast<int>(factors.size()), message_s, 0, false);
  config.workload.steps = steps;
  config.workload.step_time_factors = factors;
  config.workload.parameters = 1000;
  config.faults = std::move(crashes);
  config.recovery.on_failure = OnFailure::kRetry;
  config.recovery.detect_s = 0.25;
  return config;
}

// Nothing is exchanged, so that no replica waits for another.
Replayed apart(const Case& config) {
  return walked(config, OperationPlan());
}

// Gradients of all, which all wait for.
Replayed together(const Case& config, const std::string& collective) {
  OperationRule rule = rule_of(collective);
  rule.payload = whole({"gradient"}, Wire::kInt8);
  rule.before_optimizer = true;
  return walked(config, OperationPlan{{rule}});
}

// replica, left_step, left_s, back_s, source, copied_step, bytes, state_s, joined_s, first_step, ended_step
std::string absences_of(const Replayed& replayed) {
  const std::string& text = replayed.files.at("absences.csv");
  return text.substr(text.find('\n') + 1);
}

// Replica 0 goes in its step 4, which ends at 4 s. The other one, four times slower, is in step 2 from 4 to
// 8 s, and has ended step 3 at 12 s: only then does replica 0 have no step before its fourth to take again.
TEST(Joining, NoStepIsTakenTwiceByOneThatWasAhead) {
  const Replayed result = apart(case_of({1, 4}, 6, 0, {crash_of(0, 3.5, 1)}));
  EXPECT_EQ(absences_of(result), "0,4,3.5,4.5,1,3,12000,4.5,12,4,3\n");
  EXPECT_EQ(totals_of(result, 0), (Cells{"3", "3.5"})) << "steps 4 to 6; what it had computed is lost";
  EXPECT_NEAR(simulated_s(result), 6 * 4, 1e-9);
}

// The same, but it goes again at 6 s, with the state and waiting for the other one, and stays away: it never
// was back, though it did download 12,000 bytes.
TEST(Joining, OneThatGoesBeforeItBeginsWasNotBack) {
  const Replayed result = apart(case_of({1, 4}, 6, 0, {crash_of(0, 3.5, 1), crash_of(0, 6, 1e6)}));
  EXPECT_EQ(absences_of(result), "0,4,3.5,,-1,0,12000,,,0,3\n");
  EXPECT_NEAR(std::stod(rows_of(result, "replicas.csv").at(0).at(7)), 6 * 4 - 3.5, 1e-9) << "gone";
}

// Of three, one is gone from 2.5 to 4.5 s and downloads for a second. Its source is in step 5 at 4.5 s and in
// step 6 at 5.5 s. Where the source crashes at 5.4 s its bytes do not count. At 5.65 s the last one is asked,
// in its step 6; a second later it is in step 7.
TEST(Joining, AStateFromASourceThatCrashedDoesNotArrive) {
  Case config = case_of({1, 1, 1}, 9, 1, {crash_of(0, 2.5, 2)});
  const std::string source = rows_of(apart(config), "absences.csv").at(0).at(4);
  EXPECT_EQ(absences_of(apart(config)), "0,3,2.5,4.5," + source + ",4,12000,5.5,5.5,6,2\n");
  const int lost = std::stoi(source), last = 3 - lost;
  config.faults.push_back(crash_of(lost, 5.4, 1e6));
  const Replayed result = apart(config);
  EXPECT_EQ(rows_of(result, "absences.csv").at(0),
            (Cells{"0", "3", "2.5", "4.5", std::to_string(last), "5", "24000", "6.65", "6.65", "7", "2"}));
  EXPECT_NEAR(simulated_s(result), 9 + 0.65, 1e-9) << "steps 7 to 9 from 6.65 s on";
}

// Messages of 1.5 s. Replica 0 goes at 0.5 s. The tree of the other three begins at 1 s: replica 3, a leaf of
// the second level, has the result after two messages, at 4 s; 1 and 2 after three, at 5.5 s. Replica 0 is
// back at 3.7 s, and all have begun step 1: it listens to step 2. What it needs is there when its source has
// ended step 1: one of 1 and 2 (this seed), so that it comes from 5.5 to 7 s. In step 2 replica 3 sends to 2
// from 6.5 to 8 s, that on to 0 by 9.5, 0 back to 2 by 11, and both to their neighbours by 12.5.
TEST(Joining, OneThatListenedIsReadyWhenItHasTakenTheStep) {
  const Replayed result = together(case_of({1, 1, 1, 1}, 4, 1.5, {crash_of(0, 0.5, 3.2)}), "tree");
  const auto absence = rows_of(result, "absences.csv").at(0);
  EXPECT_EQ(at(absence, {1, 3, 5, 7, 8, 9}), (Cells{"1", "3.7", "2", "7", "12.5", "3"}));
  EXPECT_NEAR(result.row(1, 3).done_s, 4, 1e-9);
  EXPECT_NEAR(result.row(2, 3).ready_s, 5, 1e-9);
  EXPECT_EQ(groups_of_steps(result).at(2), (std::vector<int>{1, 2, 3}));
  for (const int replica : {0, 1, 2, 3}) EXPECT_NEAR(result.row(3, replica).ready_s, 13.5, 1e-9) << replica;
  EXPECT_EQ(groups_of_steps(result).at(3), (std::vector<int>{0, 1, 2, 3}));
  const double tree_s = 4 * 1.5;  // of four: two levels up and two down
  EXPECT_NEAR(simulated_s(result), 13.5 + tree_s + 1 + tree_s, 1e-9);
}

// The same of three, and replica 1 goes, from 0.5 to 1.2 s. The other two exchange until 4 s, and it
// downloads until 5.5. In step 2 replica 0 has all at 7 s. It sends first to 2, which goes on at 8.5 s, then
// to 1: that has what it begins step 3 with at 10 s.
TEST(Joining, OneThatListenedBeginsWhenItHasTheResultItself) {
  const Replayed result = together(case_of({1, 1, 1}, 3, 1.5, {crash_of(1, 0.5, 0.7)}), "tree");
  EXPECT_EQ(at(rows_of(result, "absences.csv").at(0), {4, 5, 7, 8, 9}), (Cells{"2", "2", "5.5", "10", "3"}));
  EXPECT_NEAR(result.row(2, 2).done_s, 8.5, 1e-9);
  EXPECT_NEAR(result.row(3, 2).ready_s, 9.5, 1e-9);
  EXPECT_NEAR(result.row(3, 1).ready_s, 11, 1e-9);
}

// Two fragments that are averaged in turn, every four steps, and are there a step later: posted at 2, 6 and
// 10, and at 4, 8 and 12. Messages of 0.2 s: a ring of two takes 0.4, of three 0.8. Replica 2 goes at 3.5 s
// and is back at 6.2, when the others are in their seventh step and exchange the first fragment: what they
// posted at 6 s has no byte for it, and is in their state at 7.0. That arrives at 7.2, so that it is in the
// exchange of step 8, from 8 to 8.8 s. It begins with step 10 when the others have ended step 9.
TEST(Joining, WhoIsInNoExchangeOfAFragmentWaitsForTheNext) {
  OperationPlan plan;
  for (const int phase : {2, 0}) {
    OperationRule rule = rule_of("ring", 4);
    rule.name = phase == 2 ? "first" : "second";
    rule.phase = phase;
    rule.overlap_steps = 1;
    plan.rules.push_back(rule);
  }
  const Replayed result = walked(case_of({1, 1, 1}, 12, 0.2, {crash_of(2, 3.5, 2.7)}), plan);
  EXPECT_EQ(at(rows_of(result, "absences.csv").at(0), {1, 3, 5, 7, 8, 9}),
            (Cells{"4", "6.2", "9", "7.2", "9", "10"}));
  EXPECT_EQ(result.row(6, 0, "first").done_s, 6.4);
  EXPECT_EQ(groups_of_steps(result, 1).at(8), (std::vector<int>{0, 1}));
  EXPECT_EQ(groups_of_steps(result, 0).at(10), (std::vector<int>{0, 1, 2}));
}

// Of four replica 0 goes at 0.5 s, which fails step 1. It is back at 2.2 s and listens to step 3: its source
// ends step 2 at 2.8 s, the state is there at 3.0, and six rounds from 3.8 s on end at 5.0. Where replica 1
// goes at 4.9 s they fail at 5.15, and nobody has a result; those of step 4, of three, from 6.15 to 6.95 s.
TEST(Joining, AnExchangeThatFailsEndsNothing) {
  for (const bool fails : {false, true}) {
    Case config = case_of({1, 1, 1, 1}, 6, 0.2, {crash_of(0, 0.5, 1.7)});
    config.recovery.on_failure = OnFailure::kDiscard;
    if (fails) config.faults.push_back(crash_of(1, 4.9, 1e6));
    const Cells row = rows_of(together(config, "ring"), "absences.csv").at(0);
    EXPECT_EQ(at(row, {0, 7, 9}), (Cells{"0", "3", fails ? "5" : "4"}));
    EXPECT_NEAR(std::stod(row.at(8)), fails ? 6.95 : 5, 1e-9);
  }
}

// Messages of 1 s in a ring of three: each has sent two when one goes at 2.5 s. The other two begin anew at
// 2.75 s, with two each. What was given up was sent too.
TEST(Joining, TransfersThatWereGivenUpCount) {
  const Replayed result = together(case_of({1, 1, 1}, 1, 1, {crash_of(0, 2.5, 1e6)}), "ring");
  EXPECT_NEAR(simulated_s(result), 2.75 + 2, 1e-9);
  EXPECT_EQ(result.report.at("transfers"), 3 * 2 + 2 * 2);
  EXPECT_EQ(rows_of(result, "transfers.csv").size(), 3u * 2 + 2 * 2);
}

}  // namespace longhaul::joining_test
