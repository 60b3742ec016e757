// Replicas that crash and come back, by hand: steps of 1 s on a mesh on which messages take no time, but for
// the download of a state. Where a replica has two stages a step is of one micro-batch, of which each stage
// takes half (passes of 1/6 s forward and 1/3 s back). Replicas that are slow for a while; and files that say
// when replicas are gone, and what is said of files that do not.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "core/base/errors.h"
#include "replay/absence/churn.h"
#include "replay/work/absence_trace.h"
#include "replay/work/slow_replicas.h"
#include "replay/work/struck_workers.h"
#include "tests/support/files.h"
#include "tests/support/said.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::membership_test {

// Replica 0 crashes at `at_s` and is back `for_s` later; the others know of it after 0.25 s.
Case with_crash(int replicas, int steps, OnFailure on_failure, double at_s, double for_s) {
  Case config = drawn_case(replicas, 0, 0, false);
  config.workload.steps = steps;
  config.faults = {crash_of(0, at_s, for_s)};
  config.recovery.on_failure = on_failure;
  config.recovery.detect_s = 0.25;
  return config;
}

OperationRule gradients() {
  OperationRule rule = rule_of("ring");
  rule.payload = whole({"gradient"}, Wire::kInt8);
  rule.before_optimizer = true;
  return rule;
}

OperationRule weights_in_pairs() {
  OperationRule rule = rule_of("pair", 1, 2);
  rule.kind = OperationKind::kGroupAverage;
  rule.payload = whole({"weights"}, Wire::kInt8);
  return rule;
}

// A state of 1000 parameters of 12 bytes, on links of 9600 bytes a second; operations of `rule` carry a byte.
void prepare_download(Case& config, OperationRule& rule) {
  config.network.message_time.reset();
  config.network.topology = mesh_spec(76800 * 1538. / 1448, 0);  // with Ethernet's framing
  config.workload.parameters = 1000;
  rule.payload[0].columns = {{0, 1}};
}

Replayed replayed(const Case& config, const OperationRule& rule = gradients()) {
  return walked(config, OperationPlan{{rule}});
}

// Replica 0 is gone from 2.5 to 4.5 s. Then it downloads its state.
Replayed with_download(OperationRule rule, int replicas, int steps) {
  Case config = with_crash(replicas, steps, OnFailure::kRetry, 2.5, 2);
  prepare_download(config, rule);
  return replayed(config, rule);
}

using Group = std::vector<int>;

// It goes in the middle of step 3 and stays away. Step 3's gradients wait for it until 2.75 s, which is
// before the others are ready.
TEST(Membership, OthersGoOnWithoutIt) {
  const Replayed result = replayed(with_crash(3, 5, OnFailure::kRetry, 2.5, 1e6));
  EXPECT_NEAR(simulated_s(result), 5, 1e-6);
  const auto groups = groups_of_steps(result);
  EXPECT_EQ(groups.at(2), (Group{0, 1, 2}));
  for (const int step : {3, 4, 5}) EXPECT_EQ(groups.at(step), (Group{1, 2})) << step;
  EXPECT_EQ(result.files.at("absences.csv").substr(result.files.at("absences.csv").find('\n')),
            "\n0,3,2.5,,-1,0,0,,,0,2\n");
  const auto totals = rows_of(result, "replicas.csv");
  EXPECT_EQ(at(totals[0], {1, 5, 6, 7}), (Cells{"2.5", "2", "0.5", "2.5"}))
      << "computed, steps in the model, lost, gone";
  EXPECT_EQ(totals[1][5], "5");
}

// It goes when the others wait for it at the end of step 3: they know at 2.95 + 0.25.
TEST(Membership, OthersWaitUntilTheyKnow) {
  Case config = with_crash(3, 4, OnFailure::kRetry, 2.95, 1e6);
  const Replayed retried = replayed(config);
  EXPECT_NEAR(retried.row(3, 1).done_s, 3.2, 1e-6);
  EXPECT_NEAR(simulated_s(retried), 4.2, 1e-6);

  config.recovery.on_failure = OnFailure::kDiscard;
  const Replayed discarded = replayed(config);
  EXPECT_NEAR(simulated_s(discarded), 4.2, 1e-6);
  EXPECT_EQ(discarded.report.at("thrown_away_steps"), 1);
  EXPECT_EQ(groups_of_steps(discarded).at(3), Group());
  EXPECT_EQ(groups_of_steps(discarded).at(4), (Group{1, 2}));
  EXPECT_EQ(totals_of(discarded, 1), (Cells{"3", "1"}));
}

// Messages take a second. When somebody has the result and a replica goes that has not, the others know a
// quarter of a second later; then each who has it serves another in a second, and those serve too: `rounds`
// seconds until each of those left has it.
TEST(Membership, AResultIsPassedOnByAllWhoHaveIt) {
  constexpr int kReplicas = 24;
  Case config = with_crash(kReplicas, 1, OnFailure::kRetry, 1e6, 1e6);
  config.network.message_time = MessageTimeSpec{1, 0};
  OperationRule rule = gradients();
  rule.collective = "tree";
  const Replayed undisturbed = replayed(config, rule);
  std::multiset<double> done;
  int last = 0;
  for (const ExchangeRecord& row : undisturbed.exchanges) {
    done.insert(row.done_s);
    if (row.done_s > undisturbed.row(1, last, rule.name).done_s) last = row.replica;
  }
  const double crash_s = *done.begin() + 0.5;
  const auto have = static_cast<int>(std::distance(done.begin(), done.upper_bound(crash_s)));
  ASSERT_GT(have, 0);
  ASSERT_LT(have, 12) << "most do not have it yet";
  int rounds = 0;
  for (int with_it = have; with_it < kReplicas - 1; with_it *= 2) ++rounds;
  config.faults = {crash_of(last, crash_s, 1e6)};
  const Replayed served = replayed(config, rule);
  EXPECT_NEAR(simulated_s(served), crash_s + 0.25 + rounds, 1e-6) << have << " had it";
  EXPECT_EQ(served.exchanges.size(), kReplicas - 1u);
}

// Back at 4.5 s it does step 3 once more: all end it at 5.5 s.
TEST(Membership, OrWaitUntilItIsBack) {
  const Replayed result = replayed(with_crash(3, 4, OnFailure::kWait, 2.5, 2));
  EXPECT_NEAR(result.row(3, 1).done_s, 5.5, 1e-6);
  EXPECT_NEAR(simulated_s(result), 6.5, 1e-6);
  for (const auto& [step, group] : groups_of_steps(result)) EXPECT_EQ(group.size(), 3u) << step;
  EXPECT_EQ(at(rows_of(result, "replicas.csv")[0], {1, 6}), (Cells{"4.5", "0.5"})) << "half a step twice";
}

// Back in step 5 of the others it has the state after 1.25 s, at 5.75. Step 5's gradients, ready at 5 s, wait
// for that; it takes part from step 6 on.
TEST(Membership, OneWhoIsBackListensFirst) {
  const Replayed result = with_download(gradients(), 3, 7);
  EXPECT_NEAR(result.row(5, 1).done_s, 5.75, 0.01);
  EXPECT_NEAR(simulated_s(result), 7.75, 0.02);
  const auto groups = groups_of_steps(result);
  EXPECT_EQ(groups.at(5), (Group{1, 2})) << "listening is not contributing";
  EXPECT_EQ(groups.at(6), (Group{0, 1, 2}));
  const auto absence = rows_of(result, "absences.csv").at(0);
  EXPECT_EQ(at(absence, {1, 3, 5, 6, 9}), (Cells{"3", "4.5", "5", "12000", "6"}))
      << "left in step 3, back at 4.5 s, with the state behind step 5, 12 kB, takes part from step 6 on";
  EXPECT_NEAR(std::stod(absence[7]), 5.75, 0.01);
  expect_totals_of_what_was_sent(result);
  // Nobody waits for one who averages weights in pairs: it begins with the step that its source is at then.
  const auto in_pairs = rows_of(with_download(weights_in_pairs(), 4, 8), "absences.csv").at(0);
  EXPECT_EQ(at(in_pairs, {5, 9}), (Cells{"4", "6"})) << "the state that its source had at 4.5 s";
  EXPECT_NEAR(std::stod(in_pairs[8]), 5.75, 0.01);
}

// All of them at once, for good or for a while: the first who is back goes on with what it has, the others
// download from it.
TEST(Membership, NobodyIsThere) {
  Case config = with_crash(3, 4, OnFailure::kRetry, 1.5, 1);
  config.faults = {absence_fault(0, {0, 2}, {1.5, 0})};
  EXPECT_SAYS(said_by([&] { replayed(config); }), "all 3 replicas are gone for good");
  config.faults = {absence_fault(0, {0, 2}, {1.5, 0, 1})};
  const Replayed result = replayed(config);
  EXPECT_NEAR(simulated_s(result), 2.5 + 3, 1e-6) << "steps 2 to 4";
  const auto absences = rows_of(result, "absences.csv");
  ASSERT_EQ(absences.size(), 3u);
  EXPECT_EQ(at(absences[0], {4, 9}), (Cells{"-1", "2"}));
  for (const int later : {1, 2}) EXPECT_EQ(absences[as_index(later)][4], "0") << "from the one who is there";
}

// Replica 0 is gone from 2.5 to 4.5 s, replica 2 from 6.25 s on: a file says that, or two faults.
TEST(Membership, AFileOfAbsences) {
  const TemporaryFolder folder;
  Case config = with_crash(3, 8, OnFailure::kRetry, 2.5, 2);
  config.faults.push_back(absence_fault(0, {2, 2}, {6.25}));
  const Replayed drawn = replayed(config);
  write_text(folder.file("spot.csv"), "replica,left_s,back_s\n0,2.5,4.5\n2,6.25,\n");
  config.faults = {absence_fault(0, {0, -1}, {})};
  config.faults[0].file = folder.file("spot.csv");
  const Replayed read = replayed(config);
  EXPECT_EQ(read.files, drawn.files);
  const auto groups = groups_of_steps(read);
  EXPECT_EQ(groups.at(4), (Group{1, 2}));
  EXPECT_EQ(groups.at(6), (Group{0, 1, 2}));
  EXPECT_EQ(groups.at(8), (Group{0, 1}));
  const auto faults = rows_of(read, "faults.csv");
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[0], (Cells{"0", "crash", "replica 0", "2.5", "4.5"}));
  EXPECT_EQ(faults[1][2], "replica 2");

  write_text(folder.file("spot.csv"), "replica,left_s,back_s\n3,2.5,4.5\n");
  EXPECT_THROW(read_absence_trace(config.faults[0], config.replicas), InputError) << "there are three";
  config.faults[0].file = folder.file("nothing.csv");
  EXPECT_THROW(read_absence_trace(config.faults[0], config.replicas), InputError);
}

TEST(Membership, AFaultAfterTheEndChangesNoTime) {
  const Case config = with_crash(4, 5, OnFailure::kRetry, 1e6, 1);
  Case without = config;
  without.faults.clear();
  for (const OperationRule& rule : {gradients(), weights_in_pairs()}) {
    const Replayed with = replayed(config, rule), plain = replayed(without, rule);
    for (const char* file : {"exchanges.csv", "steps.csv", "links.csv", "breakdown.csv", "transfers.csv"})
      EXPECT_EQ(with.files.at(file), plain.files.at(file)) << file;
    EXPECT_EQ(rows_of(with, "absences.csv").size(), 0u);
  }
}

// Shards are nowhere else.
TEST(Membership, WhatKeepsReplicasAlikeAndWhoIsWaitedFor) {
  EXPECT_TRUE(keeps_replicas_alike({{gradients()}}));
  EXPECT_TRUE(keeps_replicas_alike({{rule_of("ring", 10)}})) << "of Δ";
  EXPECT_FALSE(keeps_replicas_alike({{weights_in_pairs()}}));
  EXPECT_FALSE(keeps_replicas_alike({}));
  OperationRule shards = gradients();
  shards.sharded = true;
  EXPECT_EQ(on_failure_of({}, {{gradients()}}), OnFailure::kRetry);
  EXPECT_EQ(on_failure_of({}, {{shards}}), OnFailure::kWait);
}

constexpr int kStages = 2;

// The crash is worker 1's, stage 1 of replica 0.
Replayed staged(Case config, const OperationRule& rule = gradients()) {
  config.pipeline.stages = kStages;
  config.faults[0].replicas = {1, 1};
  OperationPlan plan{staged_rules(rule, kStages)};
  plan.pipeline = equal_plan(config.pipeline);
  if (!rule.payload[0].columns.empty())  // one, of the stage's own half
    for (OperationRule& of_stage : plan.rules)
      of_stage.payload[0].columns = {{of_stage.stage * 500, of_stage.stage * 500 + 1}};
  return walked(config, plan);
}

// The groups of a stage's operations by step, as replicas.
std::map<int, std::vector<int>> groups_of_stage(const Replayed& replayed, int stage) {
  std::map<int, std::vector<int>> groups = groups_of_steps(replayed, stage);
  for (auto& [step, group] : groups)
    for (int& worker : group) {
      EXPECT_EQ(worker % kStages, stage);
      worker /= kStages;
    }
  return groups;
}

// Of one micro-batch a step takes as long as without stages. It goes in the middle of step 3, before either
// stage has done its passes.
TEST(StagedCrash, TakesTheTimeOfACrashWithoutStages) {
  OperationRule outer = rule_of("ring", 2);
  outer.payload = whole({"weights"}, Wire::kInt8);
  for (const OperationRule& rule : {gradients(), weights_in_pairs(), outer})
    for (const OnFailure on_failure : {OnFailure::kRetry, OnFailure::kDiscard})
      for (const double for_s : {0.2, 2., 1e6})
        for (const bool downloads : {true, false}) {
          Case config = with_crash(4, 9, on_failure, 2.4, for_s);
          config.recovery.downloads_state = downloads;
          const Replayed whole = replayed(config, rule), parts = staged(config, rule);
          EXPECT_NEAR(simulated_s(parts), simulated_s(whole), 1e-9);
          const auto found = rows_of(parts, "absences.csv"), expected = rows_of(whole, "absences.csv");
          ASSERT_EQ(found.size(), expected.size());
          for (std::size_t row = 0; row < found.size(); ++row)
            for (std::size_t cell = 0; cell < expected[row].size(); ++cell) {
              const std::string& number = expected[row][cell];
              if (number.empty())
                EXPECT_EQ(found[row][cell], number);
              else
                EXPECT_NEAR(std::stod(found[row][cell]), std::stod(number), 1e-9) << "column " << cell;
            }
          for (int stage = 0; stage < kStages; ++stage)
            EXPECT_EQ(groups_of_stage(parts, stage), groups_of_steps(whole)) << rule.name;
        }
}

// Stage 1 is done with step 3 at 2 + 2/3 s, and its gradients have met when the replica goes; stage 0 is not.
// Where it goes at 2.5 s it had computed of step 3: stage 0 a sixth of a second forward; stage 1 another
// sixth, and of its backward pass what fits before.
TEST(StagedCrash, AStepCountsOfWhichOneStageHasMetAndOthersAreLost) {
  const Replayed result = staged(with_crash(3, 5, OnFailure::kRetry, 2.8, 1e6));
  EXPECT_EQ(groups_of_stage(result, 1).at(3), (Group{0, 1, 2}));
  EXPECT_EQ(groups_of_stage(result, 0).at(3), (Group{1, 2}));
  const auto absences = rows_of(result, "absences.csv");
  ASSERT_EQ(absences.size(), 1u);
  EXPECT_EQ(absences[0][1], "4") << "left_step";
  EXPECT_EQ(absences[0].back(), "2") << "ended_step";
  const Replayed earlier = staged(with_crash(3, 5, OnFailure::kRetry, 2.5, 1e6));
  std::map<std::pair<std::string, std::string>, double> computed;
  for (const auto& row : rows_of(earlier, "pipeline.csv")) computed[{row[0], row[1]}] = std::stod(row[3]);
  EXPECT_NEAR((computed.at({"3", "0"})), 1. / 6, 1e-9);
  EXPECT_NEAR((computed.at({"3", "1"})), 1. / 6 + (2.5 - 2 - 1. / 3), 1e-9);
  EXPECT_EQ(computed.count({"4", "0"}), 0u);
  EXPECT_NEAR((computed.at({"4", "2"})), 0.5, 1e-9) << "the others go on";
}

// At 2.5 s step 3 fails in both stages, one step of five; at 2.8 s in stage 0 alone, which is half a step.
TEST(StagedCrash, AStepIsThrownAwayOnce) {
  for (const auto& [crash_s, steps] : {std::pair(2.5, 1.), {2.8, 0.5}}) {
    const Replayed result = staged(with_crash(3, 5, OnFailure::kDiscard, crash_s, 1e6));
    EXPECT_EQ(result.report.at("thrown_away_steps"), steps);
  }
}

// On a free network all that they wait for is the schedule's: stage 0 since its forward pass of 1/6 s, stage
// 1 from the end of its step 2, at 1 2/3 s, until that was over. Where messages take 0.25 s, the first one
// has been on its way for 0.1 s.
TEST(StagedCrash, TheWaitThatACrashCutsIsABubbleUnlessTheNetworkHasIt) {
  const auto cut = [](Case config, const char* step) {
    std::vector<double> waits;
    for (const auto& row : rows_of(staged(config), "pipeline.csv"))
      if (row[0] == step && row[1] <= "1") waits.insert(waits.end(), {std::stod(row[4]), std::stod(row[5])});
    return waits;
  };
  const auto expect_waits = [](const std::vector<double>& found, const std::vector<double>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9) << i;
  };
  expect_waits(cut(with_crash(3, 5, OnFailure::kRetry, 2.5, 1e6), "3"), {1. / 3, 0, 0.5, 0});
  Case late = with_crash(3, 5, OnFailure::kRetry, 1. / 6 + 0.1, 1e6);
  late.network.message_time = MessageTimeSpec{0.25, 0};
  expect_waits(cut(late, "1"), {0.1, 0, 1. / 6, 0.1});
}

// Each stage downloads its half of 12,000 bytes at 9600 bytes a second, from its own worker of the source.
TEST(StagedCrash, EachStageDownloadsItsPart) {
  OperationRule rule = weights_in_pairs();
  Case config = with_crash(4, 9, OnFailure::kRetry, 2.4, 1);
  prepare_download(config, rule);
  const auto absences = rows_of(staged(config, rule), "absences.csv");
  ASSERT_EQ(absences.size(), 1u);
  EXPECT_EQ(absences[0][6], "12000") << "bytes";
  EXPECT_NEAR(std::stod(absences[0][7]) - std::stod(absences[0][3]), 6000 / 9600., 1e-3);
}

// Messages of a third of 1000 bytes take a second: it goes in its second one of step 1.
TEST(Membership, WhatTheLostOneSentIsInItsTotal) {
  Case config = with_crash(3, 1, OnFailure::kRetry, 2.5, 1e6);
  config.network.message_time = MessageTimeSpec{1, 0};
  const Replayed result = replayed(config);
  EXPECT_NEAR(std::stod(rows_of(result, "replicas.csv").at(0).at(4)), 2 * 1000 / 3., 1);
  expect_totals_of_what_was_sent(result);
}

// Of two replicas one goes before it has posted: what waits for its receiver, or for an announcement or an
// answer of it, has not left. An eager sender has pushed 100 bytes.
TEST(Membership, WhatHasNotLeftIsNotSent) {
  for (const auto& [library, eager, sent] :
       {std::tuple{"plain", 0, "0"}, {"plain", 100, "100"}, {"gloo", 0, "0"}, {"open-mpi", 0, "0"}}) {
    SCOPED_TRACE(library);
    // The other one posts at 1 s, and knows at 1.15 s.
    Case config = with_crash(2, 1, OnFailure::kRetry, 0.9, 1e6);
    config.network.library = library;
    config.network.eager = eager;
    config.network.message_time.reset();
    config.network.topology = mesh_spec(1e7, 0.01);
    OperationRule rule = gradients();
    if (library != std::string("plain")) rule.collective = kLibraryChoice;
    rule.payload[0].columns = {{0, 300000}};
    const Trace trace = make_trace(OperationPlan{{rule}}, {1, 2, 1, 300000});
    EXPECT_EQ(rows_of(walked(config, trace), "replicas.csv").at(1).at(4), sent);
  }
}

// Drawn: a replica goes, and comes back or not. What replicas sent is what was handed to the network; what
// each computed, waited and was gone is its clock, or until the end where it stays away.
TEST(Membership, TimesAndBytesAddUp) {
  std::mt19937 random(1);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    const int replicas = 2 + i % 4, steps = 3 + i % 3;
    const bool stays_away = i % 5 > 2;
    const OnFailure then = i % 3 == 0                  ? OnFailure::kDiscard
                           : i % 3 == 1 && !stays_away ? OnFailure::kWait
                                                       : OnFailure::kRetry;
    Case config = with_crash(replicas, steps, then, uniform(0, steps), stays_away ? 1e6 : uniform(0.1, 2));
    config.network.message_time = MessageTimeSpec{uniform(0.001, 0.2), 0};
    config.workload.step_time_factors.assign(static_cast<std::size_t>(replicas), 1);
    config.workload.step_time_factors.back() = uniform(0.5, 3);
    OperationRule rule = i % 4 == 3 ? weights_in_pairs() : gradients();
    if (i % 4 < 2) rule.collective = i % 4 == 0 ? "tree" : "direct";
    const Replayed result = replayed(config, rule);
    expect_totals_of_what_was_sent(result);
    const Rows absences = rows_of(result, "absences.csv");
    for (const Cells& row : rows_of(result, "replicas.csv")) {
      const bool is_away =
          !absences.empty() && absences.back().at(0) == row.at(0) && absences.back().at(8).empty();
      const double sum = std::stod(row.at(1)) + std::stod(row.at(2)) + std::stod(row.at(7));
      EXPECT_NEAR(sum, is_away ? simulated_s(result) : std::stod(row.at(3)), 1e-6) << row.at(0);
      EXPECT_LE(std::stod(row.at(2)), std::stod(row.at(3)) + 1e-9) << row.at(0);
    }
  }
}

// One of three goes for good while all wait for who is gone: in the step whose gradients meet, or in one
// behind the last that do, which the others end.
TEST(Membership, SaysHowManyAllWaitFor) {
  for (const auto& [every, at_s] : {std::pair{1, 2.5}, {4, 8.5}}) {
    Case config = with_crash(3, 10, OnFailure::kWait, at_s, 1);
    config.faults = {absence_fault(0, {0, 0}, {at_s, 0})};
    OperationRule rule = gradients();
    rule.every = every;
    EXPECT_SAYS(said_by([&] { replayed(config, rule); }),
                "1 of 3 replicas are gone for good, so that training never ends");
  }
}

// Ten times slower from 2.5 s to 7.5 s: half of the third step is done at 2.5, the other half at 7.5.
const Fault kSlow = slow_fault(0, {0, 0}, 10, {2.5, 0, 5});

TEST(SlowReplicas, ComputeIsStretchedWhereItIsSlow) {
  const SlowReplicas slow({kSlow}, 1, 2);
  EXPECT_EQ(slow.stretched_s(1, 0, 3), 3) << "another replica";
  EXPECT_EQ(slow.stretched_s(0, 0, 2.5), 2.5);
  EXPECT_NEAR(slow.stretched_s(0, 2, 1), 0.5 + 5, 1e-9);
  EXPECT_NEAR(slow.stretched_s(0, 3, 0.1), 1, 1e-9);
  EXPECT_NEAR(slow.stretched_s(0, 7, 1), 0.5 + 0.95, 1e-9);
  EXPECT_NEAR(slow.stretched_s(0, 0, 4), 2.5 + 5 + 1, 1e-9);
  EXPECT_EQ(slow.stretched_s(0, 8, 1), 1);
  // Factors of several faults multiply.
  const SlowReplicas slower({kSlow, slow_fault(1, {0, 1}, 2, {0, 0, 4})}, 1, 2);
  EXPECT_NEAR(slower.stretched_s(0, 3, 0.05), 1, 1e-9) << "20 times";
  EXPECT_NEAR(slower.stretched_s(1, 3, 1), 1 + 0.5, 1e-9);
}

// Whether a step ends with an exchange or all are one event together.
TEST(SlowReplicas, TheOthersWaitWhereTheyExchange) {
  Case config = drawn_case(2, 0, 0);
  config.workload.steps = 4;
  config.faults = {kSlow};
  const Replayed alone = walked(config, OperationPlan());
  EXPECT_NEAR(simulated_s(alone), 8.5, 1e-9);
  EXPECT_EQ(alone.files.at("replicas.csv").find("\n1,4,0,4"), alone.files.at("replicas.csv").find("\n1,"));

  const Replayed together = walked(config, OperationPlan{{rule_of("ring")}});
  EXPECT_NEAR(together.row(3, 0).ready_s, 7.5, 1e-9);
  EXPECT_NEAR(together.row(3, 1).ready_s, 3, 1e-9);
  EXPECT_NEAR(together.row(3, 1).done_s, 7.5, 1e-9);
  EXPECT_NEAR(together.row(4, 1).done_s, 8.5, 1e-9);
  EXPECT_EQ(together.files.at("faults.csv"), "fault,kind,subject,begin_s,end_s\n0,slow,replica 0,2.5,7.5\n");
}

TEST(SlowReplicas, AFaultAfterTheEndChangesNothing) {
  Case config = drawn_case(2, 0, 0);
  config.workload.steps = 4;
  const OperationPlan plan{{rule_of("ring", 2)}};
  const Replayed without = walked(config, plan);
  config.faults = {slow_fault(0, {0, 1}, 10, {1000, 0, 5})};
  Replayed with = walked(config, plan);
  EXPECT_EQ(with.files.at("faults.csv"), "fault,kind,subject,begin_s,end_s\n");
  with.files.erase("faults.csv");
  EXPECT_EQ(with.files, without.files);
}

// Two stages, one micro-batch, forward 1 s and back 2 s each: the second worker begins at 1 s and is twice as
// slow from 2 s to 4 s. F1 1-2, B1 2-4 does half, the rest by 5; B0 5-7.
TEST(SlowReplicas, PassesOfAStageToo) {
  Case config = drawn_case(1, 0, 0, false);
  config.pipeline.stages = 2;
  config.workload.step_time.seconds = 6;
  config.faults = {slow_fault(0, {1, 1}, 2, {2, 0, 2})};
  OperationPlan plan;
  plan.pipeline = equal_plan(config.pipeline);
  const Replayed replayed = walked(config, plan);
  EXPECT_NEAR(simulated_s(replayed), 7, 1e-6);
  EXPECT_SAYS(replayed.files.at("tasks.csv"), "1,1,1,0,backward,2,5");
}

constexpr std::int64_t kSecond = 1000000000;

AbsenceTrace absences_of(const std::string& text) {
  return parse_absences(text, "spot.csv", 4);
}

// "line and column: what was found; what is allowed"
std::string error_of(const std::string& text) {
  const InputErrorParts parts = refused_parts([&] { absences_of(text); });
  EXPECT_EQ(parts.file, "spot.csv");
  return parts.path + ": " + parts.found + "; " + parts.allowed;
}

TEST(AbsenceTrace, ARowIsAnAbsence) {
  const AbsenceTrace absences =
      absences_of("# made up\nleft_s, replica, back_s\n\n90, 2, 2min\r\n1.5,0,\n2min,2,0.1h\n");
  ASSERT_EQ(absences.size(), 2u) << "replicas 1 and 3 stay";
  ASSERT_EQ(absences.at(0).size(), 1u);
  EXPECT_EQ(absences.at(0)[0].begin_ns, 1500000000);
  EXPECT_EQ(absences.at(0)[0].end_ns, FaultWindows::kNever);
  ASSERT_EQ(absences.at(2).size(), 2u);
  EXPECT_EQ(absences.at(2)[0].begin_ns, 90 * kSecond);
  EXPECT_EQ(absences.at(2)[0].end_ns, 120 * kSecond);
  EXPECT_EQ(absences.at(2)[1].begin_ns, 120 * kSecond) << "in the moment in which it is back";
  EXPECT_EQ(absences.at(2)[1].end_ns, 360 * kSecond);
}

// Of one replica absences follow each other.
TEST(AbsenceTrace, WhatIsWrongIsSaidWithItsLine) {
  EXPECT_EQ(error_of(""), ": has no rows; a header line, replica,left_s,back_s, and rows");
  EXPECT_EQ(error_of("replica,left_s\n0,1\n"),
            "line 1: found the columns replica, left_s; replica, left_s, back_s");
  EXPECT_EQ(error_of("replica,left_s,back\n0,1,2\n"),
            "line 1: found the column \"back\"; replica, left_s, back_s");
  const std::pair<const char*, const char*> below_a_header[] = {
      {"", ": has no rows; a header line, replica,left_s,back_s, and rows"},
      {"0,1\n", "line 2: has 2 cells; as many as the header: 3"},
      {"4,1,2\n", "line 2, column replica: found 4; a replica, 0 … 3"},
      {"-1,1,2\n", "line 2, column replica: found -1; a replica, 0 … 3"},
      {"0.5,1,2\n", "line 2, column replica: found 0.5; a replica, 0 … 3"},
      {",1,2\n", "line 2, column replica: the cell is empty; a replica, 0 … 3"},
      {"0,,2\n", "line 2, column left_s: the cell is empty; a time in seconds"},
      {"0,-1,2\n", "line 2, column left_s: found -1; seconds from 0 to 1e+09"},
      {"0,1,1e300\n", "line 2, column back_s: found 1e+300; seconds from 0 to 1e+09"},
      {"0,soon,\n", "line 2, column left_s: found \"soon\"; seconds, or a duration as \"90min\""},
      {"0,1;2,\n", "line 2, column left_s: found \"1;2\"; a number"},
      {"0,2,2\n",
       "line 2, column back_s: found 2; more than left_s, 2, or an empty cell: it does not come back"},
      {"0,1,5\n1,2,3\n0,4.5,6\n",
       "line 4, column left_s: found 4.5; not before replica 0 is back in line 2: 5"},
      {"0,5,6\n0,1,2\n", "line 3, column left_s: found 1; not before replica 0 is back in line 2: 6"},
      {"0,1,\n0,5,6\n",
       "line 3, column replica: replica 0 does not come back in line 2; no row behind that one"}};
  for (const auto& [rows, said] : below_a_header)
    EXPECT_EQ(error_of(std::string("replica,left_s,back_s\n") + rows), said);
}

// What `longhaul list options recovery` says: 12 bytes, and 4 for each row that the method keeps. DiLoCo
// keeps slow weights and momentum.
TEST(Membership, TheStateIsAsLargeAsTheOptionSays) {
  const Node options = recovery_options();
  const std::string said = options.child("state_bytes")->meaning;
  EXPECT_SAYS(said,
              "default 12, weights and two moments in fp32, and 4 more for each row that the method keeps");
  OperationPlan plan;
  EXPECT_EQ(state_bytes_of({}, plan), 12);
  plan.keeps = {"slow"};
  EXPECT_EQ(state_bytes_of({}, plan), 16);
  plan.keeps = {"slow", "momentum", "residual"};
  EXPECT_EQ(state_bytes_of({}, plan), 24);
  RecoverySpec own;
  own.state_bytes = 7;
  EXPECT_EQ(state_bytes_of(own, plan), 7);
}

}  // namespace longhaul::membership_test
