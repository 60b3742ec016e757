// Passes of workers that are nodes of several devices, by hand.
#include "core/plan/node_passes.h"

#include <gtest/gtest.h>

#include "core/base/errors.h"

namespace longhaul {
namespace {

DeviceNodeSpec node_of(NodeParallelism parallelism, int devices, double rate, double delay_s,
                       double overlap = 0) {
  DeviceNodeSpec node;
  node.parallelism = parallelism;
  node.devices = devices;
  node.rate = rate;
  node.delay_s = delay_s;
  node.overlap = overlap;
  return node;
}

const ModelShape kModel = {1024, 24, 8, 2048, 512, 256};

PipelinePlan plan_of(int stages, int microbatches, std::int64_t tokens) {
  PipelineSpec spec;
  spec.stages = stages;
  spec.microbatches = microbatches;
  return pipeline_plan(spec, kModel, kModel.parameters(), tokens, Wire::kBf16);
}

// 2048 tokens of 1024 numbers are 4,194,304 bytes in bf16. A ring of eight sends 14/8 of that, 7,340,032
// bytes at 450 GB/s, in 14 messages of 1 µs: 30.31118 µs, and 24 layers have 48 of them in each direction.
TEST(NodePasses, TensorAllReducesTwiceALayer) {
  const NodePasses nodes(node_of(NodeParallelism::kTensor, 8, 450e9 * 8, 1e-6), plan_of(1, 1, 2048), kModel,
                         2048);
  const double ring_s = 7340032 / 450e9 + 14e-6;
  EXPECT_NEAR(ring_s, 30.31118e-6, 1e-11);
  for (const bool is_forward : {true, false}) {
    const NodePass pass = nodes.pass(0, is_forward, is_forward ? 0.3 : 0.6);
    EXPECT_DOUBLE_EQ(pass.exposed_s, 48 * ring_s) << "forward and back alike, though the compute is not";
    EXPECT_DOUBLE_EQ(pass.seconds, (is_forward ? 0.3 : 0.6) / 8 + 48 * ring_s);
    EXPECT_EQ(pass.bytes, 48 * 14 * 4194304.) << "eight devices send 14/8 each";
  }
}

// A stage has its own layers alone, here 12 each, and a quarter of the tokens a micro-batch; all passes
// together are what a worker without stages has, but for the number of messages.
TEST(NodePasses, AStageHasItsOwnLayers) {
  const NodePasses stages(node_of(NodeParallelism::kTensor, 4, 8e9, 0), plan_of(2, 4, 2048), kModel, 2048),
      whole(node_of(NodeParallelism::kTensor, 4, 8e9, 0), plan_of(1, 1, 2048), kModel, 2048);
  // 512 tokens: 1 MiB, of which a ring of four sends 6/4 at 1 GB/s.
  for (const int part : {0, 1})
    EXPECT_DOUBLE_EQ(stages.pass(part, true, 0).seconds, 24 * 1.5 * 1048576 / 1e9);
  EXPECT_NEAR(stages.step(2).seconds, whole.step(2).seconds, 1e-12);
  EXPECT_EQ(stages.step(2).bytes, whole.step(2).bytes);
}

// Of six parts the four inner ones are met by half of the micro-batches: what six have becomes what four
// have.
TEST(NodePasses, PartsThatAreLeftOutAreNotGathered) {
  PipelineSpec spec;
  spec.stages = 6;
  spec.microbatches = 4;
  spec.boundary.bytes_per_token = 1;
  PipelinePlan plan = pipeline_plan(spec, std::nullopt, 6000, 4, Wire::kBf16);
  const DeviceNodeSpec node = node_of(NodeParallelism::kSharded, 2, 8e9, 0);
  const double part = 2 * 1000, all = 4 * 3 * 6 * part;
  EXPECT_EQ(NodePasses(node, plan, std::nullopt, 4).step(1).bytes, all);
  plan.skip = 2;
  EXPECT_EQ(NodePasses(node, plan, std::nullopt, 4).step(1).bytes, all * (2 + 4 / 2.) / 6);
}

// 10^9 parameters in bf16 on four devices at 100 GB/s: three quarters of 2 GB take 15 ms, and three messages
// of 5 µs. Once forward and twice back, for each of two micro-batches.
TEST(NodePasses, ShardedGathersForEachPass) {
  PipelineSpec spec;
  spec.microbatches = 2;
  const PipelinePlan plan = pipeline_plan(spec, std::nullopt, 1000000000, 0, Wire::kBf16);
  const auto step = [&](double overlap, double one_device_s) {
    return NodePasses(node_of(NodeParallelism::kSharded, 4, 800e9, 5e-6, overlap), plan, std::nullopt, 0)
        .step(one_device_s);
  };
  EXPECT_NEAR(step(0, 1).seconds, 0.25 + 2 * 3 * 15.015e-3, 1e-12);
  EXPECT_NEAR(step(0.5, 1).seconds, 0.25 + 3 * 15.015e-3, 1e-12);
  EXPECT_NEAR(step(1, 1).seconds, 0.25, 1e-12);
  EXPECT_NEAR(step(1, 1).exposed_s, 0, 1e-12);
  EXPECT_NEAR(step(1, 0.01).seconds, 2 * 3 * 15.015e-3, 1e-12) << "no more hides than there is compute";
  EXPECT_EQ(step(1, 1).bytes, 2 * 3 * 3 * 2e9) << "hidden bytes are sent all the same";
}

// Each layer is gathered by itself: the messages' delays are paid for each. Embedding (256 · 1024) and two
// layers are in the first part of twelve.
TEST(NodePasses, ShardedGathersLayerByLayer) {
  const NodePasses nodes(node_of(NodeParallelism::kSharded, 3, 8e9, 1e-3), plan_of(12, 1, 512), kModel, 512);
  const double parameters = 256 * 1024 + 2 * (4 * 1024. * 1024 + 3 * 1024. * 2048 + 2 * 1024);
  EXPECT_NEAR(nodes.pass(0, true, 0).seconds, 2 / 3. * 2 * parameters / 1e9 + 2 * 2 * 1e-3, 1e-12);
  EXPECT_NEAR(nodes.pass(0, false, 0).seconds, 2 * nodes.pass(0, true, 0).seconds, 1e-12);
}

TEST(NodePasses, OneDeviceTakesWhatItTakes) {
  EXPECT_EQ(NodePasses().pass(0, true, 0.7).seconds, 0.7);
  EXPECT_EQ(NodePasses().step(0.7).seconds, 0.7);
  EXPECT_EQ(NodePasses().step(0.7).bytes, 0);
}

std::string path_of_error(const DeviceNodeSpec& node, const std::optional<ModelShape>& shape,
                          std::int64_t tokens) {
  try {
    NodePasses(node, PipelinePlan{}, shape, tokens);
  } catch (const InputError& error) {
    return error.parts().path;
  }
  return "";
}

TEST(NodePasses, RefusesWhatDoesNotFitTheModel) {
  const auto tensor = [](int devices) { return node_of(NodeParallelism::kTensor, devices, 1e9, 0); };
  EXPECT_EQ(path_of_error(tensor(8), kModel, 64), "");
  EXPECT_EQ(path_of_error(tensor(3), kModel, 64), "workload.node.devices");
  EXPECT_EQ(path_of_error(tensor(16), kModel, 64), "workload.node.devices") << "8 heads";
  ModelShape narrow = kModel;
  narrow.ffn = 2050;
  EXPECT_EQ(path_of_error(tensor(4), narrow, 64), "workload.node.devices");
  EXPECT_EQ(path_of_error(tensor(8), std::nullopt, 64), "workload.node.parallelism");
  EXPECT_EQ(path_of_error(tensor(8), kModel, 0), "workload.tokens");
  EXPECT_EQ(path_of_error(node_of(NodeParallelism::kSharded, 3, 1e9, 0), kModel, 0), "");
}

}  // namespace
}  // namespace longhaul
