// What of the work, the waiting and the bytes of replicas that crash counts as what, by hand: steps of 1 s.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/replay/replayed.h"

namespace longhaul::lost_work_test {

// Each message takes `message_s`; a ring of three has four rounds.
Case config_of(int replicas, int steps, std::vector<Fault> faults, double message_s = 0.25) {
  Case config = drawn_case(replicas, 0, 0, false);
  config.workload.steps = steps;
  config.faults = std::move(faults);
  config.recovery.detect_s = 0.25;
  config.network.message_time = MessageTimeSpec{message_s, 0};
  return config;
}

OperationPlan overlapping() {
  OperationRule rule = rule_of("ring", 4);
  rule.overlap_steps = 4;
  return {{rule}};
}

// Δ of step 4 travels from 4 to 5 s, and is awaited at 8 s. It has the steps 1 to 4 in it, whatever was
// computed before it was there. At 8.5 s that of step 8 is still on its way.
TEST(LostWork, WhatWasComputedBehindAnOverlappedExchangeIsNotInIt) {
  for (const auto& [at_s, lost] : {std::pair(5.5, "1.5"), {7.9, "3.9"}, {8.5, "4.5"}}) {
    SCOPED_TRACE(at_s);
    const Replayed result = walked(config_of(3, 20, {crash_of(2, at_s, 1e6)}), overlapping());
    EXPECT_EQ(totals_of(result, 2), (Cells{"4", lost}));
    EXPECT_EQ(totals_of(result, 0), (Cells{"20", "0"}));
    expect_totals_of_what_was_sent(result);
  }
}

// What is posted at step 4 for step 8 arrives at 6 s. Sent ahead it has rows that no step changes; else the
// step that an exchange before it has not had would be in it too.
TEST(LostWork, WhatIsSentAheadHasNone) {
  for (const bool is_sent_ahead : {true, false}) {
    OperationPlan plan = overlapping();
    plan.rules[0].is_sent_ahead = is_sent_ahead;
    const Replayed result = walked(config_of(3, 12, {crash_of(2, 7.5, 1e6)}), plan);
    EXPECT_EQ(totals_of(result, 2), is_sent_ahead ? (Cells{"0", "7.5"}) : (Cells{"4", "3.5"}));
  }
}

// It takes the steps 1 to 3, and 0.5 s of the fourth. Back at 4.5 s with its own state it takes step 5, whose
// Δ has those three in it. With another's they are lost.
TEST(LostWork, ItsOwnStateKeepsWhatItHasNotShared) {
  for (const bool downloads : {false, true}) {
    Case config = config_of(4, 10, {crash_of(2, 3.5, 1)}, 0);
    config.recovery.detect_s = 4;
    config.recovery.downloads_state = downloads;
    const Replayed result = walked(config, OperationPlan{{rule_of("ring", 5)}});
    EXPECT_EQ(totals_of(result, 2), downloads ? (Cells{"5", "3.5"}) : (Cells{"9", "0.5"}));
  }
}

// Two replicas meet in pairs at step 5, of which one crashes before. The other one is left alone at 6.5 s and
// takes no outer step, whatever on_failure says: when it crashes at 9.25 s all is lost that it has computed.
TEST(LostWork, WhoIsLeftAloneHasSharedNothing) {
  OperationRule pairs = rule_of("pair", 5, 2);
  pairs.kind = OperationKind::kGroupAverage;
  const OperationPlan plan{{pairs}};
  std::vector<int> met;
  for (const Json& line : schedule_of(walked(config_of(4, 10, {crash_of(3, 1e6, 1)}), plan)))
    if (line.at("step") == 5 && std::count(line.at("group").begin(), line.at("group").end(), Json(3)) > 0)
      met = line.at("group").get<std::vector<int>>();
  ASSERT_EQ(met.size(), 2u);
  const int other = met[0] == 3 ? met[1] : met[0];
  for (const OnFailure on_failure : {OnFailure::kRetry, OnFailure::kDiscard}) {
    Case config = config_of(4, 10, {crash_of(3, 4.5, 1e6), crash_of(other, 9.25, 1e6)});
    config.recovery.detect_s = 2;
    config.recovery.on_failure = on_failure;
    EXPECT_EQ(totals_of(walked(config, plan), other), (Cells{"0", "7.75"}));
  }
}

// It has waited in the exchange from 5 s on when it crashes at 6.25 s: idle, and in no row.
TEST(LostWork, TheWaitThatACrashCutsIsSaid) {
  const Replayed result =
      walked(config_of(3, 10, {crash_of(2, 6.25, 1e6)}, 1), OperationPlan{{rule_of("ring", 5)}});
  const Cells row = rows_of(result, "replicas.csv").at(2);
  EXPECT_EQ(at(row, {1, 2, 3}), (Cells{"5", "1.25", "6.25"}));
  EXPECT_EQ(row.at(8), "1.25") << "cut_wait_s";
  EXPECT_EQ(rows_of(result, "replicas.csv").at(0).at(8), "0");
}

// Replica 0 is gone from 2.5 to 4.5 s, and downloads until 5.75 s; the others' step 5 waits for it. It goes
// again at 5.3 s, which they know a quarter of a second later, or once it is back.
TEST(LostWork, ASecondCrashIsKnownAfterAsLongAsTheFirst) {
  for (const auto& [for_s, known_s] : {std::pair(1e6, 5.55), {0.1, 5.4}}) {
    OperationRule rule = rule_of("ring");
    rule.payload = whole({"gradient"}, Wire::kInt8);
    rule.before_optimizer = true;
    Case config = config_of(3, 8, {crash_of(0, 2.5, 2), crash_of(0, 5.3, for_s)});
    config.network.message_time.reset();
    config.network.topology = mesh_spec(76800 * 1538. / 1448, 0);
    config.workload.parameters = 1000;
    rule.payload[0].columns = {{0, 1}};
    const Replayed result = walked(config, OperationPlan{{rule}});
    EXPECT_NEAR(result.row(5, 1).ready_s, 5, 2e-3);
    EXPECT_NEAR(result.row(5, 1).done_s, known_s, 2e-3);
  }
}

// Four replicas that crash again and again, each time for as long as four steps: gone before others know, in
// the middle of exchanges, while they listen, and all of them together.
Case many_crashes(OnFailure on_failure, int seed) {
  Case config = config_of(4, 60, {absence_fault(0, {0, 3}, {0, 15, 4})}, 0.2);
  config.seed = static_cast<std::uint64_t>(seed);
  config.recovery.on_failure = on_failure;
  config.recovery.detect_s = 1;
  return config;
}

class ManyCrashes : public ::testing::TestWithParam<OnFailure> {
 protected:
  static std::vector<OperationRule> rules() {
    OperationRule gradients = rule_of("ring"), outer = rule_of("ring", 4), late = outer,
                  pairs = rule_of("pair", 3, 2);
    gradients.payload = whole({"gradient"}, Wire::kInt8);
    gradients.before_optimizer = true;
    late.overlap_steps = 2;
    pairs.kind = OperationKind::kGroupAverage;
    pairs.payload = whole({"weights"}, Wire::kInt8);
    return {gradients, outer, late, pairs};
  }
};

// Where gradients are thrown away in the last step, training is over while messages of it are under way: of
// a quarter of 1000 bytes, two runs of 32.
TEST_P(ManyCrashes, WhatWasSentIsInTheTotalOfWhoSentIt) {
  int runs_that_end_before_they_arrive = 0;
  for (const OperationRule& rule : rules())
    for (int seed = 1; seed <= 8; ++seed) {
      SCOPED_TRACE(fmt::format("{} every {}, seed {}", rule.collective, rule.every, seed));
      const Replayed result = walked(many_crashes(GetParam(), seed), OperationPlan{{rule}});
      const std::vector<std::int64_t> bytes = bytes_under_way_at_the_end(result);
      const bool has_some = std::any_of(bytes.begin(), bytes.end(), [](auto sent) { return sent != 0; });
      if (!has_some) continue;
      ++runs_that_end_before_they_arrive;
      EXPECT_TRUE(rule.before_optimizer && GetParam() == OnFailure::kDiscard);
      for (const std::int64_t sent : bytes) EXPECT_TRUE(sent == 0 || (sent >= 250 && sent <= 500)) << sent;
    }
  EXPECT_LE(runs_that_end_before_they_arrive, 2);
}

INSTANTIATE_TEST_SUITE_P(LostWork, ManyCrashes,
                         ::testing::Values(OnFailure::kRetry, OnFailure::kDiscard, OnFailure::kWait));

// Where all wait for it every exchange takes place once, among all: also the one that is begun anew for a
// replica that repeats its step when the others had its result.
TEST(LostWork, WhereAllWaitEveryExchangeIsInTheSchedule) {
  for (int seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    const auto groups =
        groups_of_steps(walked(many_crashes(OnFailure::kWait, seed), OperationPlan{{rule_of("ring")}}));
    EXPECT_EQ(groups.size(), 60u);
    for (const auto& [step, group] : groups) EXPECT_EQ(group, (std::vector<int>{0, 1, 2, 3})) << step;
  }
}

}  // namespace longhaul::lost_work_test
