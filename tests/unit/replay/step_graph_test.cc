// Steps in which replicas talk while they compute, in closed form: every message takes the same time, so that
// an all-gather or a reduce-scatter of a ring of n takes n − 1 of them, a ring's all-reduce 2(n − 1), and a
// pairwise all-to-all n − 1.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/parallelism/layer_operations.h"
#include "tests/support/said.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::step_graph_test {

constexpr int kLayers = 6;
constexpr double kMessage_s = 0.01, kForward_s = 2, kBackward_s = 4;  // of a step
constexpr double kLayerForward_s = kForward_s / kLayers, kLayerBackward_s = kBackward_s / kLayers;

ParallelismSpec spec_of(int group_size, ParallelGroups groups = ParallelGroups::kConsecutive) {
  ParallelismSpec spec;
  spec.group_size = group_size;
  spec.groups = groups;
  spec.layers = kLayers;
  return spec;
}

ParallelismSpec experts(int group_size, ParallelGroups groups = ParallelGroups::kConsecutive) {
  ParallelismSpec spec = spec_of(group_size, groups);
  spec.kind = "experts";
  spec.options = {{"per_token", 2}, {"hidden", 100}, {"parameters", 600}, {"collective", "pairwise"}};
  return spec;
}

ParallelismSpec sharding(int ahead, int ahead_back, bool reshards = true) {
  ParallelismSpec spec = spec_of(4);
  spec.kind = "sharding";
  spec.options = {{"forward_prefetch", ahead},
                  {"backward_prefetch", ahead_back},
                  {"reshard_after_forward", reshards},
                  {"gather", "all-gather"},
                  {"scatter", "reduce-scatter"}};
  return spec;
}

// 1000 parameters, 10 tokens a step.
Replayed replayed(const ParallelismSpec& spec, double message_s, int replicas = 8, int steps = 1,
                  const std::vector<double>& factors = {}) {
  Case config = drawn_case(replicas, message_s, 0, false);
  config.workload.steps = steps;
  config.workload.step_time.seconds = kForward_s + kBackward_s;
  config.workload.step_time_factors = factors;
  OperationPlan plan;
  plan.step_graph = step_graph_of(spec, {std::nullopt, 1000, 10, Wire::kBf16});
  return walked(config, plan);
}
double step_s(const ParallelismSpec& spec, double message_s = kMessage_s) {
  return simulated_s(replayed(spec, message_s));
}

double total(const Replayed& run, std::size_t column) {
  double sum = 0;
  for (const Cells& row : rows_of(run, "replicas.csv")) sum += std::stod(row[column]);
  return sum;
}

// Eight replicas of two sites: groups inside a site, across both, or of all. Four all-to-alls of each layer,
// n − 1 messages each, and nothing computes meanwhile, whatever the micro-batches.
TEST(StepGraph, ExpertsWaitForFourAllToAllsOfALayer) {
  for (const int microbatches : {1, 2, 5})
    for (const auto& [size, groups] : {std::pair(4, ParallelGroups::kConsecutive),
                                       {2, ParallelGroups::kStrided},
                                       {8, ParallelGroups::kConsecutive}}) {
      ParallelismSpec spec = experts(size, groups);
      spec.microbatches = microbatches;
      const double waits_s = 4 * kLayers * microbatches * (size - 1) * kMessage_s;
      const Replayed run = replayed(spec, kMessage_s);
      EXPECT_NEAR(simulated_s(run), kForward_s + kBackward_s + waits_s, 1e-6) << size;
      EXPECT_NEAR(total(run, 5), 8 * waits_s, 1e-6) << "inside_wait_s";
      EXPECT_NEAR(total(run, 2), 8 * waits_s, 1e-6) << "idle_s";
      EXPECT_NEAR(total(run, 1), 8 * (kForward_s + kBackward_s), 1e-6) << "compute_s";
    }
}

// 10 tokens · 2 experts · 100 numbers · 2 bytes, of which (n − 1)/n leave their replica.
TEST(StepGraph, ExpertsSendTheirTokensCopies) {
  const Replayed run = replayed(experts(4), kMessage_s, 8, 3);
  EXPECT_EQ(total(run, 4), 8 * 3 * 4 * kLayers * 4000 * 3 / 4.);
  const Rows rows = rows_of(run, "collectives.csv");
  ASSERT_EQ(rows.size(), 3u * 2);
  for (const Cells& row : rows) {
    EXPECT_EQ(row[2], std::to_string(2 * 2 * kLayers)) << "two groups, two passes";
    EXPECT_EQ(row[3], std::to_string(2 * 2 * kLayers * 4 * 3000));
    EXPECT_NEAR(std::stod(row[4]), 3 * kMessage_s, 1e-9);
    EXPECT_NEAR(std::stod(row[5]), 3 * kMessage_s, 1e-9);
  }
  EXPECT_EQ(rows[0][1], "dispatch");
  EXPECT_EQ(rows[1][1], "combine");
}

// The group goes at the pace of its slowest member: in each layer its partner waits for it, the other groups
// do not.
TEST(StepGraph, AGroupWaitsForItsSlowestMember) {
  const double waits_s = 4 * kLayers * kMessage_s, own_s = kForward_s + kBackward_s;
  const Replayed run =
      replayed(experts(2, ParallelGroups::kStrided), kMessage_s, 8, 1, {1, 1, 3, 1, 1, 1, 1, 1});
  const Rows rows = rows_of(run, "replicas.csv");
  EXPECT_NEAR(simulated_s(run), 3 * own_s + waits_s, 1e-6);
  EXPECT_NEAR(std::stod(rows[2][5]), waits_s, 1e-6);
  // But for the attention of the first layer's backward pass, behind the last all-to-all.
  const double last_s = kLayerBackward_s / 3;
  EXPECT_NEAR(std::stod(rows[6][5]), 2 * (own_s - last_s) + waits_s, 1e-6) << "its partner";
  EXPECT_NEAR(std::stod(rows[4][3]), own_s + waits_s, 1e-6) << "clock_s of another one";
}

// Two all-reduces of a layer and pass.
TEST(StepGraph, TensorParallelismWaitsForFourAllReducesOfALayer) {
  ParallelismSpec spec = spec_of(4);
  spec.kind = "tensor";
  spec.options = {{"hidden", 100}, {"collective", "ring"}};
  EXPECT_NEAR(step_s(spec), kForward_s + kBackward_s + 4 * kLayers * 2 * 3 * kMessage_s, 1e-6);
  // The tokens of all four: 40 · 100 · 2 bytes, of which a ring sends 2 · 3/4.
  EXPECT_EQ(total(replayed(spec, kMessage_s), 4), 8 * 4 * kLayers * 8000 * 1.5);
}

// g for a gather, r for a scatter. Without prefetch nothing overlaps but the first gather of the backward
// pass, which needs no gradient: L (g + c) forward, and back, each layer's gather behind the scatter of the
// one before, L (g + b + r).
TEST(StepGraph, ShardsWithoutPrefetchAreGatheredWhenTheyAreNeeded) {
  const double gather_s = 3 * kMessage_s, scatter_s = 3 * kMessage_s;
  EXPECT_NEAR(step_s(sharding(0, 0)), kForward_s + kBackward_s + kLayers * (2 * gather_s + scatter_s), 1e-6);
}

// A fast network: all is hidden but the first gather of each pass and the last scatter.
TEST(StepGraph, ShardsThatAreGatheredAheadHideBehindTheCompute) {
  const double gather_s = 3 * kMessage_s, scatter_s = 3 * kMessage_s;
  ASSERT_LT(gather_s + scatter_s, kLayerForward_s);
  for (const int ahead : {1, 2, 5})
    EXPECT_NEAR(step_s(sharding(ahead, 1)), kForward_s + kBackward_s + 2 * gather_s + scatter_s, 1e-6);
  EXPECT_NEAR(step_s(sharding(2, 1, false)), kForward_s + kBackward_s + gather_s + scatter_s, 1e-6)
      << "ZeRO-2";
}

// A slow one: all gathers and scatters one behind another, and the compute is hidden but for one layer
// forward.
TEST(StepGraph, OnASlowNetworkTheComputeHidesBehindTheShards) {
  const double message_s = 1, gather_s = 3, scatter_s = 3;
  ASSERT_GT(gather_s, kLayerForward_s);
  ASSERT_GT(scatter_s, kLayerBackward_s);
  EXPECT_NEAR(step_s(sharding(2, 1), message_s),
              kLayers * gather_s + kLayerForward_s + kLayers * (gather_s + scatter_s), 1e-6);
  // Without gathers in the backward pass it begins with a layer's compute.
  EXPECT_NEAR(step_s(sharding(2, 1, false), message_s),
              kLayers * gather_s + kLayerForward_s + kLayerBackward_s + kLayers * scatter_s, 1e-6);
}

// A ring of four: 3/4 of the weights twice, and of the gradients once.
TEST(StepGraph, ShardsSendThreeTimesTheModel) {
  // 1000 parameters in 6 layers are 167, 167, 167, 167, 166, 166; a shard is 42 of each, and travels thrice.
  const double gathers = 2. * 3 * 2 * (6 * 42), scatters = 3. / 4 * 2 * 1000;
  EXPECT_EQ(total(replayed(sharding(2, 1), kMessage_s), 4), 8 * gathers + 8 * scatters);
  EXPECT_EQ(total(replayed(sharding(2, 1, false), kMessage_s), 4), 8 * gathers / 2 + 8 * scatters);
}

// FSDP2's root module is gathered in front of each forward pass and scattered behind each backward pass: of
// two micro-batches twice each. Layers are gathered in both passes.
TEST(StepGraph, WhatBelongsToNoLayerIsGatheredForEachMicrobatch) {
  ModelShape shape;
  shape.hidden = 8, shape.layers = 3, shape.heads = 2, shape.ffn = 16, shape.context = 8,
  shape.vocabulary = 40;
  ParallelismSpec spec = sharding(2, 1);
  spec.layers = 0;
  spec.microbatches = 2;
  const StepGraph graph = step_graph_of(spec, {shape, shape.parameters(), 16, Wire::kBf16});
  // Embedding and output of 40 · 8, a norm of 8; a layer of 4 · 8² + 3 · 8 · 16 + 2 · 8.
  const std::int64_t root = 2 * 40 * 8 + 8, layer = 4 * 64 + 3 * 128 + 16;
  ASSERT_EQ(shape.parameters(), root + 3 * layer);
  using Sizes = std::map<std::pair<int, std::int64_t>, int>;
  EXPECT_EQ(
      graph.sizes(),
      (Sizes{{{0, 2 * root / 4}, 2}, {{0, 2 * layer / 4}, 12}, {{1, 2 * root}, 2}, {{1, 2 * layer}, 6}}));
}

// Bytes beyond what 64 bits count, or none, are refused before anything is written.
TEST(StepGraph, ImpossibleBytesAreRefused) {
  const auto refused = [](const Json& more) {
    ParallelismSpec spec = experts(4);
    spec.options.update(more);
    return refused_path([&] { step_graph_of(spec, {std::nullopt, 1000, 10, Wire::kBf16}); });
  };
  EXPECT_EQ(refused(Json::object()), "");
  EXPECT_EQ(refused({{"bytes_per_token", 0.001}}), "parallelism.experts.bytes_per_token");
  EXPECT_EQ(refused({{"bytes_per_token", 1e30}}), "parallelism.experts.bytes_per_token");
  EXPECT_EQ(refused({{"hidden", 2000000000}, {"per_token", 2000000000}}), "workload.tokens");
  ParallelismSpec spec = experts(4);
  spec.microbatches = 10;
  spec.options["bytes_per_token"] = 9e14;
  spec.layers = 2000;
  EXPECT_EQ(refused_path([&] { step_graph_of(spec, {std::nullopt, 4000, 10, Wire::kBf16}); }), "parallelism");
  EXPECT_EQ(refused_path([&] {
              step_graph_of(sharding(2, 1), {std::nullopt, 3, 10, Wire::kBf16});
            }),
            "parallelism.layers");
}

// What a trace of another hand says.
TEST(StepGraph, DamagedOnesAreRefused) {
  const Json sound = to_json(step_graph_of(experts(4), {std::nullopt, 1000, 10, Wire::kBf16}));
  const auto said = [&](const std::string& pointer, const Json& value) {
    Json damaged = sound;
    damaged[Json::json_pointer(pointer)] = value;
    return said_by([&] { step_graph_from(damaged, 8); });
  };
  EXPECT_EQ(said("/group_size", 4), "");
  EXPECT_SAYS(said("/group_size", 3), "consecutive groups of 3 among 8 replicas");
  EXPECT_SAYS(said("/grouping", "random"), "random groups of 4");
  EXPECT_SAYS(said("/tasks/0/after", {1}),
              "step_graph.tasks[0]: awaits task 1; allowed: a task in front of it");
  EXPECT_SAYS(said("/tasks/0/share", 2), "found compute of");
  EXPECT_SAYS(said("/tasks/1/bytes", 0), "step_graph.tasks[1]: found 0 bytes");
  EXPECT_SAYS(said("/tasks/1/collective", 2), "the number of one of the 2 in step_graph.collectives");
  EXPECT_SAYS(said("/tasks/1/share", 0.5), "found a share and a collective");
}

// The method's operations come behind the step, as without parallelism.
TEST(StepGraph, OperationsOfTheMethodFollow) {
  Case config = drawn_case(8, kMessage_s, 0, false);
  config.workload.steps = 4;
  config.workload.step_time.seconds = kForward_s + kBackward_s;
  OperationPlan plan{{rule_of("ring", 2)}};
  plan.step_graph = step_graph_of(experts(4), {std::nullopt, 1000, 10, Wire::kBf16});
  const Replayed run = walked(config, plan);
  const double step_s = kForward_s + kBackward_s + 4 * kLayers * 3 * kMessage_s, ring_s = 2 * 7 * kMessage_s;
  EXPECT_NEAR(simulated_s(run), 4 * step_s + 2 * ring_s, 1e-6);
  EXPECT_NEAR(run.row(2, 3).ready_s, 2 * step_s, 1e-6);
  EXPECT_NEAR(total(run, 2), 8 * (4 * (step_s - kForward_s - kBackward_s) + 2 * ring_s), 1e-6) << "idle_s";
}

// Trace and plan say the same.
TEST(StepGraph, TracesCarryIt) {
  OperationPlan plan;
  plan.step_graph = step_graph_of(sharding(2, 1), {std::nullopt, 1000, 10, Wire::kBf16});
  const Trace trace = make_trace(plan, {1, 8, 2, 1000});
  std::stringstream text;
  write_trace(trace, text);
  const Trace read = read_trace(text, "trace.jsonl");
  EXPECT_EQ(to_json(read.plan.step_graph), to_json(plan.step_graph));
  Case config = drawn_case(8, kMessage_s, 0, false);
  config.workload.steps = 2;
  config.workload.step_time.seconds = 6;
  EXPECT_EQ(walked(config, read).files.at("replicas.csv"), walked(config, trace).files.at("replicas.csv"));
}

}  // namespace longhaul::step_graph_test
