// Stages at work, in closed form: every message takes the same time, and a worker's passes as long as its
// share of the step says.
#include <gtest/gtest.h>

#include "core/base/index.h"
#include "replay/pipeline/pipeline_run.h"
#include "replay/predict/estimate.h"
#include "replay/replay.h"
#include "tests/support/said.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::pipeline_test {

// Of a micro-batch on a worker, all its parts together.
constexpr double kForward_s = 1, kBackward_s = 2, kBoth_s = kForward_s + kBackward_s;

// "Stages setup{3, 4, 5}": three replicas of four stages, five micro-batches.
struct Stages : PipelineSpec {
  explicit Stages(int count = 1, int of_stages = 2, int of_microbatches = 2) : replicas(count) {
    stages = of_stages;
    microbatches = of_microbatches;
  }

  int replicas, steps = 1;
  double message_s = 0;
  std::vector<double> factors = {};
  std::vector<OperationRule> rules = {};
  std::vector<std::vector<int>> orders = {};  // what each micro-batch meets at each place
  bool has_idle_ends = false;                 // the first and the last part take no time
};

PipelinePlan plan_of(const Stages& setup) {
  PipelinePlan plan = equal_plan(setup);
  plan.reorders = !setup.orders.empty();
  plan.orders = setup.orders;
  if (setup.has_idle_ends) plan.parts.front().share = plan.parts.back().share = 0;
  return plan;
}

struct WorkerStep {
  double compute_s, bubble_s, network_s;
  std::int64_t bytes;
};

struct StagesRun {
  Replayed replayed;
  double clock_s;
  std::map<std::pair<int, int>, WorkerStep> steps;  // by step and worker
};

// pipeline.csv.
std::map<std::pair<int, int>, WorkerStep> worker_steps(const Replayed& replayed, int stages) {
  std::map<std::pair<int, int>, WorkerStep> steps;
  for (const auto& row : rows_of(replayed, "pipeline.csv")) {
    const int worker = std::stoi(row[1]);
    EXPECT_EQ(std::stoi(row[2]), worker % stages);
    steps[{std::stoi(row[0]), worker}] = {std::stod(row[3]), std::stod(row[4]), std::stod(row[5]),
                                          std::stoll(row[6])};
  }
  return steps;
}

StagesRun run(const Stages& setup) {
  Case config = drawn_case(setup.replicas, setup.message_s, 0, false);
  config.pipeline.stages = setup.stages;
  config.workload.steps = setup.steps;
  config.workload.step_time.seconds = kBoth_s * setup.microbatches * setup.stages;
  config.workload.step_time_factors = setup.factors;
  OperationPlan plan{setup.rules};
  plan.pipeline = plan_of(setup);
  const Replayed replayed = walked(config, plan);
  return {replayed, simulated_s(replayed), worker_steps(replayed, setup.stages)};
}

// (M + S − 1) · (f + b) for GPipe and 1F1B (arXiv 1811.06965; 2104.04473, section 2.2). Of V chunks the
// bubble is V times shorter (section 2.2 again).
TEST(Pipeline, OnAFreeNetworkTheStepIsTheTextbooks) {
  for (const auto schedule : {PipelineSchedule::kGpipe, PipelineSchedule::k1f1b})
    for (const int stages : {2, 3, 8})
      for (const int microbatches : {1, 4, 8, 64}) {
        Stages setup{1, stages, microbatches};
        setup.schedule = schedule;
        const StagesRun result = run(setup);
        EXPECT_NEAR(result.clock_s, (microbatches + stages - 1) * kBoth_s, 1e-6);
        EXPECT_NEAR(result.steps.at({1, 0}).bubble_s, (stages - 1) * kBoth_s, 1e-6);
        EXPECT_NEAR(result.steps.at({1, 0}).network_s, 0, 1e-6);
      }
  for (const int stages : {2, 4})
    for (const int chunks : {2, 3})
      for (const int rounds : {1, 2, 4}) {
        Stages setup{1, stages, rounds * stages};
        setup.chunks = chunks;
        setup.schedule = PipelineSchedule::kInterleaved;
        EXPECT_NEAR(run(setup).clock_s, setup.microbatches * kBoth_s + (stages - 1) * kBoth_s / chunks, 1e-6)
            << stages << " stages, " << chunks << " chunks, " << rounds << " rounds";
      }
}

// Every wait of GPipe: the first micro-batch comes over S − 1 hops, and its gradient back. Of what the last
// stage waits for the next step's first micro-batch, hops are the network's and passes a bubble.
TEST(Pipeline, TellsBubblesFromTheNetwork) {
  Stages setup{1, 4, 5};
  setup.steps = 3;
  setup.schedule = PipelineSchedule::kGpipe;
  setup.message_s = 0.25;
  const StagesRun result = run(setup);
  const double hops_s = 2 * 3 * 0.25, bubble_s = 3 * kBoth_s;
  EXPECT_NEAR(result.clock_s, 3 * (5 * kBoth_s + bubble_s + hops_s), 1e-6);
  for (const auto& [step, worker] : {std::pair(1, 0), {2, 0}, {3, 0}, {1, 3}, {2, 3}}) {
    const bool is_first = step == 1 && worker == 3;
    EXPECT_NEAR(result.steps.at({step, worker}).bubble_s, is_first ? 3 * kForward_s : bubble_s, 1e-6);
    EXPECT_NEAR(result.steps.at({step, worker}).network_s, is_first ? 3 * 0.25 : hops_s, 1e-6);
  }
}

// Stage 0 sends F0, F1; each message holds its sender up: f, h, f, then B0 of stage 1, its way back, b, f …:
// three times f + b + h for two micro-batches.
TEST(Pipeline, BlockingSendsHoldTheirSenderUp) {
  Stages setup;
  setup.message_s = 0.5;
  setup.blocks = true;
  EXPECT_NEAR(run(setup).clock_s, 3 * (kBoth_s + 0.5), 1e-6);
  setup.blocks = false;
  EXPECT_NEAR(run(setup).clock_s, 3 * kBoth_s + 2 * 0.5, 1e-6) << "both hops of the last micro-batch";
}

// Of two workers of the last stage one takes four times as long. By throughput it gets less; all
// micro-batches are taken through both stages, and both workers of a stage end when the last of its passes is
// over.
TEST(Pipeline, ByThroughputTheSlowGetLess) {
  Stages setup{2, 2, 32};
  setup.message_s = 0.1;
  setup.factors = {1, 1, 1, 4};
  const StagesRun straight = run(setup);
  setup.routing = MicrobatchRouting::kThroughput;
  const StagesRun result = run(setup);
  std::map<std::string, int> passes;  // by worker
  for (const auto& row : rows_of(result.replayed, "tasks.csv")) ++passes[row[1]];
  EXPECT_EQ(passes["0"] + passes["2"], 2 * 2 * 32);
  EXPECT_EQ(passes["1"] + passes["3"], 2 * 2 * 32);
  EXPECT_LT(passes["3"], passes["1"] / 2);
  // No order of 64 micro-batches on workers of speed 1 and 1 / 4 takes less than 64 / 1.25 passes of 3 s.
  EXPECT_GT(result.clock_s, 64 / 1.25 * kBoth_s);
  EXPECT_LT(result.clock_s, 0.6 * straight.clock_s);
  EXPECT_EQ(result.replayed.files, run(setup).replayed.files);
  for (const int worker : {0, 1, 2, 3}) {
    const WorkerStep& row = result.steps.at({1, worker});
    EXPECT_NEAR(row.compute_s + row.bubble_s + row.network_s,
                worker % 2 == 0 ? result.clock_s : result.clock_s - kBackward_s - 0.1, kBackward_s + 0.1);
  }
  // A message that does not come in time is the network's; with messages that take nothing nothing is.
  Stages free{3, 3, 7};
  free.steps = 3;
  free.factors = {1, 2, 1, 1, 1, 3, 1, 1, 1};
  free.routing = MicrobatchRouting::kThroughput;
  for (const auto& [key, row] : run(free).steps) EXPECT_NEAR(row.network_s, 0, 1e-6);
}

// The bytes of docs/reference/pipelines.md: M · hops · bytes, both ways; stages at the ends send one way
// only.
TEST(Pipeline, SendsWhatThePlanSays) {
  for (const auto routing : {MicrobatchRouting::kStraight, MicrobatchRouting::kRandom}) {
    Stages setup{3, 4, 5};
    setup.steps = 2;
    setup.routing = routing;
    EXPECT_EQ(plan_of(setup).bytes_of_step(), 5 * 3 * 10 * 2);
    for (const auto& [key, row] : run(setup).steps) {
      const int stage = key.second % 4;
      EXPECT_EQ(row.bytes, 5 * 10 * (stage == 0 || stage == 3 ? 1 : 2));
    }
  }
}

// Three parts on as many stages, two micro-batches, bytes by bits 20, 30 and 40 forward, 7 back: what each
// worker sends in each step by what its replica used then.
TEST(Pipeline, SendsInTheBitsThatWereLearned) {
  Stages setup{2, 3};
  setup.steps = 3;
  Trace trace = make_trace({}, {1, setup.replicas, setup.steps, 1000});
  trace.plan.pipeline = plan_of(setup);
  trace.plan.pipeline.by_bits =
      PipelinePlan::BytesByBits{4, {{20, 20}, {30, 30}, {40, 40}}, {{7, 7}, {7, 7}, {7, 7}}};
  trace.bits = {{{6, 6}, {6, 5}}, {{5, 4}, {6, 4}}, {{4, 4}, {5, 4}}};
  Case config = drawn_case(setup.replicas, 0, 0);
  config.pipeline.stages = setup.stages;
  config.workload.steps = setup.steps;
  const Replayed replayed = walked(config, trace);
  std::int64_t all = 0;
  for (const auto& [key, row] : worker_steps(replayed, setup.stages)) {
    const auto [step, worker] = key;
    const std::vector<int>& bits = trace.bits[as_index(step - 1)][as_index(worker / 3)];
    const int stage = worker % 3;
    const int forward = stage < 2 ? 20 + 10 * (bits[as_index(stage)] - 4) : 0, back = stage > 0 ? 7 : 0;
    EXPECT_EQ(row.bytes, 2 * (forward + back)) << "step " << step << ", worker " << worker;
    all += row.bytes;
  }
  EXPECT_EQ(all, 2 * (12 * 7 + 40 + 40 + 40 + 30 + 30 + 20 + 40 + 20 + 20 + 20 + 30 + 20));
  EXPECT_EQ(estimate(config, trace).payload_bytes, all);
}

// One micro-batch goes past k stages, and its gradient back: (S − k) · (f + b) and twice S − 1 − k messages.
TEST(Pipeline, WhatIsLeftOutTakesNoTime) {
  Stages setup{1, 5, 1};
  setup.message_s = 0.25;
  setup.skip = 2;
  setup.orders = {{0, -1, 2, -1, 4}};
  const StagesRun result = run(setup);
  EXPECT_NEAR(result.clock_s, 3 * kBoth_s + 2 * 2 * 0.25, 1e-6);
  const std::int64_t bytes[] = {10, 0, 20, 0, 10};  // ten a hop, each way
  for (int worker = 0; worker < 5; ++worker) {
    const double compute_s = worker % 2 == 0 ? kBoth_s : 0;
    EXPECT_NEAR(result.steps.at({1, worker}).compute_s, compute_s, 1e-6 * compute_s);
    EXPECT_EQ(result.steps.at({1, worker}).bytes, bytes[worker]);
  }
}

// As many micro-batches as orders, between ends that take no time.
StagesRun between_idle_ends(int stages, const std::vector<std::vector<int>>& orders, int skip = 0) {
  Stages setup{1, stages, static_cast<int>(orders.size())};
  setup.has_idle_ends = true;
  setup.orders = orders;
  setup.skip = skip;
  return run(setup);
}

// Two workers. Both micro-batches through both: (M + S − 1) · (f + b) of those
// two, 9 s. One each: side by side. Both through both, the second one the other way round: nobody waits.
TEST(Pipeline, WhoMeetsWhatIsFreeWaitsForNothing) {
  const auto clock_s = [](const std::vector<std::vector<int>>& orders, int skip) {
    return between_idle_ends(4, orders, skip).clock_s;
  };
  EXPECT_NEAR(clock_s({{0, 1, 2, 3}, {0, 1, 2, 3}}, 0), 3 * kBoth_s, 1e-6);
  EXPECT_NEAR(clock_s({{0, 1, 2, 3}, {0, 2, 1, 3}}, 0), 2 * kBoth_s, 1e-6);
  EXPECT_NEAR(clock_s({{0, 1, -1, 3}, {0, -1, 2, 3}}, 1), kBoth_s, 1e-6);
  EXPECT_NEAR(clock_s({{0, 1, -1, 3}, {0, 1, -1, 3}}, 1), 2 * kBoth_s, 1e-6) << "one has all, one nothing";
}

// Three workers, of which each of three micro-batches meets two (by hand; forward 1 s, back 2 s). At 2 s the
// third worker has F2, and the gradient of 1 is still on its way over the last part.
//   worker 1: F0 0-1, F2 1-2, B0 4-6, B2 7-9      worker 2: F1 0-1, F0 1-2, B0 2-4, B1 5-7
//   worker 3: F1 1-2, F2 2-3, B1 3-5, B2 5-7
TEST(Pipeline, WorkersTakeWhatComes) {
  const StagesRun result = between_idle_ends(5, {{0, 1, 2, -1, 4}, {0, -1, 2, 3, 4}, {0, 1, -1, 3, 4}}, 1);
  EXPECT_NEAR(result.clock_s, 9, 1e-6);
  EXPECT_NEAR(result.steps.at({1, 1}).bubble_s, 3, 1e-6);
  EXPECT_NEAR(result.steps.at({1, 2}).bubble_s, 1, 1e-6);
  EXPECT_NEAR(result.steps.at({1, 3}).bubble_s, 1, 1e-6);
  for (int worker = 0; worker < 5; ++worker) EXPECT_NEAR(result.steps.at({1, worker}).network_s, 0, 1e-6);
}

// Of three micro-batches through both: the second worker has F0 1-2, F1 2-3, then B0 and F2 wait for it.
TEST(Pipeline, BackwardPassesComeFirstWhereThereIsNoOrder) {
  const StagesRun result = between_idle_ends(4, {{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}});
  EXPECT_NEAR(result.clock_s, 12, 1e-6);
  for (const char* row : {"1,2,2,0,backward,3,5", "1,2,2,1,backward,5,7", "1,2,2,2,forward,7,8"})
    EXPECT_SAYS(result.replayed.files.at("tasks.csv"), row);
}

// Of the gradients of a stage, over the whole backward pass.
OperationRule rule_in_two_buckets(int stage) {
  OperationRule rule = rule_of("ring");
  rule.before_optimizer = true;
  rule.stage = stage;
  rule.overlap_backward = kBackward_s / kBoth_s;
  rule.buckets = 2;
  return rule;
}

// Rules are released by a worker that has nothing to do, too.
TEST(Pipeline, WhoIsLeftOutStillExchanges) {
  Stages setup{2, 4, 1};
  setup.steps = 2;
  setup.message_s = 0.25;
  setup.skip = 1;
  setup.orders = {{0, 1, -1, 3}};
  setup.rules = {rule_in_two_buckets(2)};
  const StagesRun result = run(setup);
  EXPECT_NEAR(result.clock_s, 2 * (3 * kBoth_s + 4 * 0.25), 1e-6);
  EXPECT_NEAR(result.replayed.row(1, 2).done_s, 4 * 0.25, 1e-6) << "two buckets of two messages";
}

// Worker 2 (replica 1, stage 0) takes twice as long; on straight paths replica 0 knows nothing of it.
TEST(Pipeline, AStragglerHoldsUpWhoMeetsIt) {
  Stages setup{2, 2, 8};
  setup.factors = {1, 1, 2, 1};
  const StagesRun straight = run(setup);
  EXPECT_NEAR(straight.steps.at({1, 0}).bubble_s, kBoth_s, 1e-6);
  // 8 slow passes each way; only the first gradient comes 1 s after the second forward pass.
  EXPECT_NEAR(straight.clock_s, 8 * 2 * kBoth_s + 1, 1e-6);
  setup.routing = MicrobatchRouting::kRandom;
  EXPECT_GT(run(setup).steps.at({1, 0}).bubble_s, kBoth_s + 1);
}

// Whatever waits for whatever, every worker's time is told in full, and twice the same.
TEST(Pipeline, TimesAddUpWithEverySchedule) {
  for (const auto schedule :
       {PipelineSchedule::kGpipe, PipelineSchedule::k1f1b, PipelineSchedule::kInterleaved})
    for (const bool blocks : {false, true}) {
      Stages setup{3, 3, 6};
      setup.steps = 4;
      setup.schedule = schedule;
      setup.chunks = schedule == PipelineSchedule::kInterleaved ? 2 : 1;
      setup.routing = MicrobatchRouting::kRandom;
      setup.blocks = blocks;
      setup.message_s = 0.3;
      setup.factors = {1, 1.2, 0.7, 1, 3, 1, 0.9, 1, 1};
      setup.rules = staged_rules(rule_of("ring", 2), 3);
      const StagesRun result = run(setup);
      EXPECT_EQ(result.replayed.files, run(setup).replayed.files);
      std::vector<double> told(9), exchanged(9);
      for (const auto& [key, row] : result.steps) {
        EXPECT_GE(row.bubble_s, 0);
        EXPECT_GE(row.network_s, 0);
        told[as_index(key.second)] += row.compute_s + row.bubble_s + row.network_s;
      }
      for (const ExchangeRecord& row : result.replayed.exchanges)
        exchanged[as_index(row.replica)] += row.done_s - row.ready_s;
      for (const auto& row : rows_of(result.replayed, "replicas.csv")) {
        const auto worker = as_index(std::stoi(row[0]));
        EXPECT_NEAR(told[worker] + exchanged[worker], std::stod(row[3]), 1e-6);
        EXPECT_NEAR(std::stod(row[1]) + std::stod(row[2]), std::stod(row[3]), 1e-6);
      }
    }
}

// Each stage's ring is among its own workers, and begins when these have their last gradients: stage 1 of
// two is done with a pass b before stage 0.
TEST(Pipeline, ExchangesOfAStageAreAmongItsWorkers) {
  Stages setup{4, 2, 1};
  setup.message_s = 0.1;
  OperationRule rule = rule_of("ring");
  rule.before_optimizer = true;
  setup.rules = staged_rules(rule, 2);
  const StagesRun result = run(setup);
  ASSERT_EQ(result.replayed.exchanges.size(), 8u);
  for (int worker = 0; worker < 8; ++worker) {
    const ExchangeRecord& row = result.replayed.row(1, worker, setup.rules[as_index(worker % 2)].name);
    EXPECT_NEAR(row.ready_s, 2 * kBoth_s + 2 * 0.1 - (worker % 2 == 0 ? 0 : kBackward_s + 0.1), 1e-6);
    EXPECT_NEAR(row.done_s - row.start_s, 2 * 3 * 0.1, 1e-6);
  }
}

// With two buckets over the whole backward pass the first one may go half a pass, 1 s, before the end. Two
// messages of a bucket take 0.2 s, so that only the second one shows; or 2 s, and the second one 2 s more.
TEST(Pipeline, TheLastBackwardPassReleasesBuckets) {
  for (const auto& [message_s, late_s] : {std::pair(0.1, 0.2), {1., 3.}}) {
    Stages setup{2};
    setup.rules = {rule_in_two_buckets(0)};
    setup.message_s = message_s;
    const StagesRun result = run(setup);
    EXPECT_NEAR(result.replayed.row(1, 0).done_s - result.replayed.row(1, 0).ready_s, late_s, 1e-6);
  }
}

}  // namespace longhaul::pipeline_test
