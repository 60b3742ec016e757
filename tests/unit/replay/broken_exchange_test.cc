// Connections that are reset while all members live, by hand: steps of 1 s, messages of half a second.
#include <gtest/gtest.h>

#include "core/base/errors.h"
#include "core/plan/absences.h"
#include "replay/membership.h"
#include "tests/unit/replay/membership_cases.h"

namespace longhaul {
namespace {

// The connections of replica 0 are reset at `at_s`; all know it a quarter of a second later.
Case with_reset(int replicas, int steps, OnFailure on_failure, double at_s) {
  Case config = with_crash(replicas, steps, on_failure, 0, 1);
  config.crashes.clear();
  config.exchange_faults = {{0, {0, 0}, {at_s, 0, 1e-9}}};
  config.network.message_time = MessageTimeSpec{0.5, 0};
  return config;
}

// A ring of two has two rounds, of 500 of 1000 bytes each way: from 1 to 2 s. It breaks at 1.75 s.
Replayed broken_in_second_round(OnFailure on_failure) {
  return run_with(analytic_replay, with_reset(2, 2, on_failure, 1.75), trace_of_rule(gradients(), 2, 2));
}

double seconds_in(const Replayed& replayed, const std::string& column, std::size_t row) {
  const std::string& text = replayed.files.at("breakdown.csv");
  std::istringstream header(text.substr(0, text.find('\n')));
  std::size_t place = 0;
  for (std::string name; std::getline(header, name, ',') && name != column;) ++place;
  return std::stod(rows_of(replayed, "breakdown.csv").at(row).at(place));
}

// Begun anew at 2 s, from the first byte.
TEST(BrokenExchange, BeginsAnew) {
  const Replayed replayed = broken_in_second_round(OnFailure::kRetry);
  EXPECT_NEAR(replayed.row(1, 0).done_s, 3, 1e-6);
  EXPECT_NEAR(replayed.row(1, 1).done_s, 3, 1e-6);
  EXPECT_NEAR(simulated_s(replayed), 5, 1e-6);
  EXPECT_NEAR(replayed.row(1, 0).start_s, 2, 1e-6);
  EXPECT_NEAR(seconds_in(replayed, "message_s", 0), 1, 1e-6);
  EXPECT_EQ(replayed.row(1, 0).bytes, 2000) << "what was sent was sent";
  EXPECT_EQ(replayed.row(2, 0).bytes, 1000);
  for (const auto& [step, group] : groups_of_steps(replayed)) EXPECT_EQ(group.size(), 2u) << step;
  EXPECT_EQ(rows_of(replayed, "absences.csv").size(), 0u);
  EXPECT_EQ(rows_of(replayed, "replicas.csv")[0][5], "2");
  EXPECT_EQ(rows_of(replayed, "faults.csv")[0],
            (std::vector<std::string>{"0", "exchange", "replica 0", "1.75", "1.75"}));
}

TEST(BrokenExchange, OrFailsForAll) {
  const Replayed replayed = broken_in_second_round(OnFailure::kDiscard);
  EXPECT_NEAR(replayed.row(1, 0).done_s, 2, 1e-6);
  EXPECT_NEAR(simulated_s(replayed), 4, 1e-6);
  EXPECT_NEAR(seconds_in(replayed, "message_s", 0) + seconds_in(replayed, "waiting_s", 0),
              replayed.row(1, 0).done_s - replayed.row(1, 0).start_s, 1e-9);
  EXPECT_EQ(replayed.report.at("discarded"), 1);
  EXPECT_EQ(replayed.report.at("thrown_away_steps"), 1);
  EXPECT_EQ(groups_of_steps(replayed).at(1), std::vector<int>());
  EXPECT_EQ(groups_of_steps(replayed).at(2), (std::vector<int>{0, 1}));
  EXPECT_EQ(replayed.row(1, 0).bytes, 1000);
  for (const int replica : {0, 1}) {
    EXPECT_EQ(rows_of(replayed, "replicas.csv")[as_index(replica)][5], "1") << "steps in the model";
    EXPECT_EQ(rows_of(replayed, "replicas.csv")[as_index(replica)][6], "1") << "lost";
  }
}

// Both messages of the second round, from 1.5 s, are sent again at 2 s.
TEST(BrokenExchange, OrItsMessagesAreSentAgain) {
  const Replayed replayed = broken_in_second_round(OnFailure::kWait);
  EXPECT_NEAR(replayed.row(1, 0).done_s, 2.5, 1e-6);
  EXPECT_NEAR(simulated_s(replayed), 4.5, 1e-6);
  EXPECT_EQ(replayed.row(1, 0).bytes, 1500);
  EXPECT_EQ(replayed.row(1, 1).bytes, 1500);
  EXPECT_NEAR(seconds_in(replayed, "message_s", 0), 1, 1e-6) << "of done − start";
  EXPECT_NEAR(seconds_in(replayed, "waiting_s", 0), 0.5, 1e-6);
}

// Of two pairs only that of replica 0 is late: at 1.25 s its messages are half-way.
TEST(BrokenExchange, OthersAreNotTouched) {
  const Case config = with_reset(4, 1, OnFailure::kRetry, 1.25);
  const Replayed replayed = run_with(analytic_replay, config, trace_of_rule(weights_in_pairs(), 4, 1));
  int late = 0;
  for (int replica = 0; replica < 4; ++replica) {
    const double done_s = replayed.row(1, replica).done_s;
    EXPECT_TRUE(std::abs(done_s - 1.5) < 1e-6 || std::abs(done_s - 2) < 1e-6) << done_s;
    late += done_s > 1.9 ? 1 : 0;
  }
  EXPECT_EQ(late, 2);
  EXPECT_NEAR(replayed.row(1, 0).done_s, 2, 1e-6);
}

// A second reset in the time in which all learn of the first one finds nothing under way.
TEST(BrokenExchange, WhatStandsStillDoesNotBreak) {
  Case config = with_reset(2, 2, OnFailure::kRetry, 1.75);
  config.exchange_faults.push_back({1, {1, 1}, {1.9, 0, 1e-9}});
  EXPECT_NEAR(simulated_s(run_with(analytic_replay, config, trace_of_rule(gradients(), 2, 2))), 5, 1e-6);
}

// Replica 1 crashes while they learn of it: the operation goes on without it when that is known, at 2.05 s.
TEST(BrokenExchange, AndAMemberCrashes) {
  Case config = with_reset(3, 2, OnFailure::kRetry, 1.75);
  config.crashes = {{1, {1, 1}, {1.8}}};
  const Replayed replayed = run_with(analytic_replay, config, trace_of_rule(gradients(), 3, 2));
  EXPECT_EQ(groups_of_steps(replayed).at(1), (std::vector<int>{0, 2}));
  EXPECT_NEAR(replayed.row(1, 0).done_s, 3.05, 1e-6) << "a ring of two";
}

TEST(BrokenExchange, AResetWithNothingUnderWayChangesNoTime) {
  for (const OnFailure policy : {OnFailure::kRetry, OnFailure::kDiscard, OnFailure::kWait})
    for (const double at_s : {0.5, 1e6}) {
      const Case config = with_reset(4, 3, policy, at_s);
      for (const OperationRule& rule : {gradients(), weights_in_pairs()}) {
        const Trace trace = trace_of_rule(rule, 4, 3);
        const Replayed with = run_with(analytic_replay, config, trace);
        Case without = config;
        without.exchange_faults.clear();
        const Replayed plain = run_with(analytic_replay, without, trace);
        expect_same_times(with, plain);
      }
    }
}

// All wait for one that has crashed for good, while connections are reset and it would leave again and again.
TEST(BrokenExchange, WhatGoesOnForEverEndsInAnError) {
  Case config = with_reset(2, 2, OnFailure::kWait, 0);
  config.exchange_faults = {{0, {0, 1}, {0, 10, 1e-9}}};
  config.crashes = {{1, {0, 0}, {1.5}}};
  EXPECT_THROW(run_with(analytic_replay, config, trace_of_rule(gradients(), 2, 2)), RunError);
  config.exchange_faults.clear();
  config.crashes.push_back({2, {0, 0}, {0, 10, 1}, CrashFault::Manner::kLeaveAfterStep});
  EXPECT_THROW(run_with(analytic_replay, config, trace_of_rule(gradients(), 2, 2)), RunError);
}

TEST(BrokenExchange, WithStagesItIsRefused) {
  Case config = with_reset(4, 3, OnFailure::kRetry, 1);
  const OperationPlan plan{{gradients()}};
  EXPECT_NO_THROW(check_crashes(config, plan));
  EXPECT_FALSE(may_lack_members(config, plan)) << "all get every result";
  config.recovery.on_failure = OnFailure::kDiscard;
  EXPECT_TRUE(may_lack_members(config, plan));
  config.pipeline.stages = 2;
  EXPECT_THROW(check_crashes(config, plan), InputError);
}

}  // namespace
}  // namespace longhaul
