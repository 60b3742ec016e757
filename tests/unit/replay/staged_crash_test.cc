// Replicas of two stages that crash and come back: steps of 1 s of one micro-batch, of which each stage takes
// half (passes of 1/6 s forward and 1/3 s back), on a mesh on which messages take no time.
#include <gtest/gtest.h>

#include "tests/unit/replay/membership_cases.h"

namespace longhaul::staged_crash_test {

constexpr int kStages = 2;

Trace staged(const OperationRule& rule, int replicas, int steps) {
  Trace trace = trace_of_rule(rule, replicas, steps);
  PipelineSpec spec;
  spec.stages = kStages;
  spec.boundary.bytes_per_token = 10;
  trace.plan.pipeline = pipeline_plan(spec, std::nullopt, 1000, 1, Wire::kBf16);
  trace.plan.rules.clear();
  for (int stage = 0; stage < kStages; ++stage) {
    trace.plan.rules.push_back(rule);
    trace.plan.rules.back().stage = stage;
    trace.plan.rules.back().name += ".stage" + std::to_string(stage);
  }
  return trace;
}

// The crash is worker 1's, stage 1 of replica 0.
Case of_stages(Case config) {
  config.pipeline.stages = kStages;
  config.faults = {crash_of(1, config.faults[0].times.at_s, config.faults[0].times.for_s)};
  return config;
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
          const Replayed whole = walked(config, trace_of_rule(rule, 4, 9)),
                         parts = walked(of_stages(config), staged(rule, 4, 9));
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
TEST(StagedCrash, AStepCountsOfWhichOneStageHasMet) {
  const Case config = of_stages(with_crash(3, 5, OnFailure::kRetry, 2.8, 1e6));
  const Replayed replayed = walked(config, staged(gradients(), 3, 5));
  EXPECT_EQ(groups_of_stage(replayed, 1).at(3), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(groups_of_stage(replayed, 0).at(3), (std::vector<int>{1, 2}));
  const auto absences = rows_of(replayed, "absences.csv");
  ASSERT_EQ(absences.size(), 1u);
  EXPECT_EQ(absences[0][1], "4") << "left_step";
  EXPECT_EQ(absences[0].back(), "2") << "ended_step";
}

// What it had computed of step 3 when it went: stage 0 a sixth of a second forward; stage 1 another sixth,
// and of its backward pass what fits before 2.5 s.
TEST(StagedCrash, WhatItWasComputingIsLost) {
  const Case config = of_stages(with_crash(3, 5, OnFailure::kRetry, 2.5, 1e6));
  const Replayed replayed = walked(config, staged(gradients(), 3, 5));
  const auto rows = rows_of(replayed, "pipeline.csv");
  std::map<std::pair<std::string, std::string>, double> computed;
  for (const auto& row : rows) computed[{row[0], row[1]}] = std::stod(row[3]);
  EXPECT_NEAR((computed.at({"3", "0"})), 1. / 6, 1e-9);
  EXPECT_NEAR((computed.at({"3", "1"})), 1. / 6 + (2.5 - 2 - 1. / 3), 1e-9);
  EXPECT_EQ(computed.count({"4", "0"}), 0u);
  EXPECT_NEAR((computed.at({"4", "2"})), 0.5, 1e-9) << "the others go on";
}

// Each stage downloads its half of 12,000 bytes at 9600 bytes a second, from its own worker of the source.
TEST(StagedCrash, EachStageDownloadsItsPart) {
  OperationRule rule = weights_in_pairs();
  Case config = with_crash(4, 9, OnFailure::kRetry, 2.4, 1);
  prepare_download(config, rule);
  Trace trace = staged(rule, 4, 9);
  for (OperationRule& of_stage : trace.plan.rules)
    of_stage.payload[0].columns = {{of_stage.stage * 500, of_stage.stage * 500 + 1}};
  const Replayed replayed = walked(of_stages(config), trace);
  const auto absences = rows_of(replayed, "absences.csv");
  ASSERT_EQ(absences.size(), 1u);
  EXPECT_EQ(absences[0][6], "12000") << "bytes";
  EXPECT_NEAR(std::stod(absences[0][7]) - std::stod(absences[0][3]), 6000 / 9600., 1e-3);
}

}  // namespace longhaul::staged_crash_test
