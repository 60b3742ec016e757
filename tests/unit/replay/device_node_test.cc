// Workers that are nodes of several devices, replayed: closed forms of step and pipeline.
#include <gtest/gtest.h>

#include "replay/estimate.h"
#include "replay/replay.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul {
namespace {

constexpr std::int64_t kParameters = 1000;
// Of 1000 parameters in bf16 four devices gather three quarters of 2 kB at 1 kB/s: 1.5 s.
constexpr double kGather_s = 1.5;

DeviceNodeSpec four_sharded(double overlap = 0) {
  DeviceNodeSpec node;
  node.devices = 4;
  node.parallelism = NodeParallelism::kSharded;
  node.rate = 8000;
  node.overlap = overlap;
  return node;
}

struct NodeRun {
  double clock_s = 0;
  std::vector<std::vector<double>> rows;  // of replicas.csv
  std::map<std::string, std::size_t> column;
  std::map<std::string, std::string> files;

  double at(std::size_t worker, const std::string& name) const { return rows[worker][column.at(name)]; }
};

NodeRun run(const Case& config, const std::vector<OperationRule>& rules = {}) {
  Trace trace = make_trace({rules}, {1, config.replicas, config.workload.steps, kParameters});
  trace.plan.pipeline =
      pipeline_plan(config.pipeline, std::nullopt, kParameters, config.workload.tokens, Wire::kBf16);
  const Replayed replayed = run_with(analytic_replay, config, trace);
  NodeRun run;
  run.clock_s = replayed.report.at("simulated_s");
  run.files = replayed.files;
  std::string line, cell;
  std::istringstream lines(replayed.files.at("replicas.csv"));
  std::getline(lines, line);
  for (std::istringstream names(line); std::getline(names, cell, ',');)
    run.column.emplace(cell, run.column.size());
  while (std::getline(lines, line)) {
    run.rows.emplace_back();
    for (std::istringstream cells(line); std::getline(cells, cell, ',');)
      run.rows.back().push_back(std::stod(cell));
  }
  return run;
}

Case case_of(int replicas, int steps, double one_device_s) {
  Case config = drawn_case(replicas, 0, 0);
  config.network.barrier = false;
  config.workload.parameters = kParameters;
  config.workload.steps = steps;
  config.workload.step_time.seconds = one_device_s;
  return config;
}

// A quarter of 8 s, and three gathers; the straggler's compute takes twice as long, its links do not.
TEST(DeviceNode, AStepIsAPartOfTheComputeAndWhatShows) {
  Case config = case_of(2, 5, 8);
  config.workload.node = four_sharded();
  config.workload.step_time_factors = {1, 2};
  const NodeRun result = run(config);
  EXPECT_NEAR(result.at(0, "clock_s"), 5 * (2 + 3 * kGather_s), 1e-9);
  EXPECT_NEAR(result.at(1, "clock_s"), 5 * (4 + 3 * kGather_s), 1e-9);
  EXPECT_NEAR(result.at(1, "node_s"), 5 * 3 * kGather_s, 1e-9);
  EXPECT_NEAR(result.at(1, "compute_s"), result.at(1, "clock_s"), 1e-9) << "it is part of the compute";
  EXPECT_EQ(result.at(0, "node_bytes"), 5 * 3 * 3 * 2000);
}

// Hidden up to a half: 2.25 of 4.5 s, where forward (2/3 s) and backward pass (4/3 s) hide at most
// themselves.
TEST(DeviceNode, OverlapHidesUpToTheCompute) {
  Case config = case_of(1, 1, 8);
  config.workload.node = four_sharded(0.25);
  EXPECT_NEAR(run(config).clock_s, 2 + 0.75 * 3 * kGather_s, 1e-9);
  config.workload.node = four_sharded(0.5);
  // Forward hides 2/3 of a wished 0.75 s, the backward pass 4/3 of 1.5 s.
  EXPECT_NEAR(run(config).clock_s, 2 + 3 * kGather_s - 2, 1e-9);
}

// What it says inside the site is not on the network, and what is there does not change.
TEST(DeviceNode, ItsBytesAreNotTheNetworks) {
  Case config = case_of(4, 3, 8);
  const std::vector<OperationRule> rules = {rule_of("ring")};
  const NodeRun before = run(config, rules);
  config.workload.node = four_sharded();
  const NodeRun after = run(config, rules);
  EXPECT_EQ(before.files.at("links.csv"), after.files.at("links.csv"));
  for (std::size_t worker = 0; worker < 4; ++worker)
    EXPECT_EQ(before.at(worker, "bytes_sent"), after.at(worker, "bytes_sent"));
  EXPECT_EQ(before.column.count("node_bytes"), 0u) << "files without nodes are as before";
}

// (M + S − 1) · (f + b), with f and b of a node: a quarter of the part's compute, and its share of the
// weights gathered once, or twice and more.
TEST(DeviceNode, OnAFreeNetworkThePipelineIsTheTextbooks) {
  for (const auto schedule : {PipelineSchedule::kGpipe, PipelineSchedule::k1f1b})
    for (const int stages : {2, 4}) {
      const int microbatches = 8;
      Case config = case_of(2, 1, 96);
      config.pipeline.stages = stages;
      config.pipeline.microbatches = microbatches;
      config.pipeline.schedule = schedule;
      config.pipeline.boundary.bytes_per_token = 10;
      config.workload.tokens = microbatches;
      config.workload.node = four_sharded();
      const double both_s = 96. / 4 / stages / microbatches + 3 * kGather_s / stages;
      const NodeRun result = run(config);
      EXPECT_NEAR(result.clock_s, (microbatches + stages - 1) * both_s, 1e-6);
      for (std::size_t worker = 0; worker < as_index(2 * stages); ++worker) {
        EXPECT_NEAR(result.at(worker, "node_s"), microbatches * 3 * kGather_s / stages, 1e-6);
        EXPECT_EQ(result.at(worker, "node_bytes"), microbatches * 3 * 3 * 2000. / stages);
      }
    }
}

// Of a replica: 3 gathers of 3 · 2000 bytes, as many steps and replicas.
TEST(DeviceNode, TheEstimateCountsWhatTheReplayCounts) {
  Case config = case_of(3, 7, 8);
  config.workload.node = four_sharded(1);
  Trace trace = make_trace({{}}, {1, 3, 7, kParameters});
  EXPECT_EQ(estimate(config, trace).node_bytes, 3 * 7 * 3 * 3 * 2000.);
  EXPECT_EQ(estimate(config, trace).payload_bytes, 0);
}

}  // namespace
}  // namespace longhaul
