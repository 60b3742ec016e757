// Cuts, schedules and paths by hand.
#include "core/plan/pipeline.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/index.h"
#include "core/base/random.h"
#include "tests/support/said.h"
#include "tests/support/traces.h"

namespace longhaul::pipeline_test {

PipelineSpec spec_of(int stages, int microbatches, PipelineSchedule schedule = PipelineSchedule::k1f1b,
                     int chunks = 1) {
  PipelineSpec spec;
  spec.stages = stages;
  spec.microbatches = microbatches;
  spec.schedule = schedule;
  spec.chunks = chunks;
  return spec;
}

ModelShape shape_of(int layers) {
  return {8, layers, 2, 16, 4, 32};
}

PipelinePlan plan_of(const PipelineSpec& spec, int layers, std::int64_t tokens = 64) {
  return pipeline_plan(spec, shape_of(layers), shape_of(layers).parameters(), tokens, Wire::kBf16);
}

// "F0 F1 B0 B1": passes, each with its micro-batch; with several parts "F2:0".
std::string order_of(const PipelinePlan& plan, int stage) {
  std::string text;
  for (const PipelineTask& task : tasks_of_stage(plan, stage)) {
    text += (text.empty() ? "" : " ") + std::string(task.is_forward ? "F" : "B");
    if (plan.part_count() > plan.stages) text += std::to_string(task.part) + ":";
    text += std::to_string(task.microbatch);
  }
  return text;
}

Trace trace_of(const PipelinePlan& pipeline, const PlanContext& context,
               const std::vector<OperationRule>& rules = {}) {
  OperationPlan plan{rules};
  plan.pipeline = pipeline;
  return make_trace(plan, context);
}

// GPipe takes all forward passes first. 1F1B with three stages and four micro-batches, as the figures of
// arXiv 2104.04473 have it for four stages. Interleaved passes change chunks after as many micro-batches as
// stages.
TEST(PipelineOrder, IsThatOfTheSchedule) {
  const std::tuple<PipelineSpec, std::vector<std::string>> schedules[] = {
      {spec_of(2, 3, PipelineSchedule::kGpipe), {"F0 F1 F2 B0 B1 B2", "F0 F1 F2 B0 B1 B2"}},
      {spec_of(3, 4), {"F0 F1 F2 B0 F3 B1 B2 B3", "F0 F1 B0 F2 B1 F3 B2 B3", "F0 B0 F1 B1 F2 B2 F3 B3"}},
      {spec_of(3, 1), {"F0 B0", "F0 B0", "F0 B0"}},
      {spec_of(2, 4, PipelineSchedule::kInterleaved, 2),
       {"F0:0 F0:1 F2:0 F2:1 F0:2 B2:0 F0:3 B2:1 F2:2 B0:0 F2:3 B0:1 B2:2 B2:3 B0:2 B0:3",
        "F1:0 F1:1 F3:0 B3:0 F3:1 B3:1 F1:2 B1:0 F1:3 B1:1 F3:2 B3:2 F3:3 B3:3 B1:2 B1:3"}}};
  for (const auto& [spec, orders] : schedules) {
    const PipelinePlan plan = plan_of(spec, spec.stages * spec.chunks, 16 * spec.microbatches);
    ASSERT_EQ(orders.size(), as_index(spec.stages));
    for (int stage = 0; stage < spec.stages; ++stage)
      EXPECT_EQ(order_of(plan, stage), orders[as_index(stage)]);
  }
}

// h 8, ffn 16, V 32: a layer has 4·64 + 3·128 + 16 = 656 parameters, embedding and output 256 each.
TEST(PipelineCut, ByLayersTheFirstPartsHaveOneMore) {
  const PipelinePlan plan = plan_of(spec_of(2, 1), 3);
  ASSERT_EQ(plan.part_count(), 2);
  EXPECT_EQ(plan.parts[0].columns, (ColumnRange{0, 256 + 2 * 656}));
  EXPECT_EQ(plan.parts[1].columns, (ColumnRange{256 + 2 * 656, 256 + 3 * 656 + 8 + 256}));
  // Work of a layer: 2 · (4·64 + 3·128) + 2 · 8 · 4 = 1344; of the output 2 · 8 · 32 = 512.
  EXPECT_DOUBLE_EQ(plan.parts[0].share, 2 * 1344. / (3 * 1344 + 512));
  EXPECT_DOUBLE_EQ(plan.parts[1].share, (1344. + 512) / (3 * 1344 + 512));
}

// Output of 10 · 1344: the last of two parts of 12 layers gets one layer, 11 against 1 + 10.
TEST(PipelineCut, ByCostTheOutputCounts) {
  ModelShape shape = shape_of(12);
  shape.vocabulary = 840;
  PipelineSpec spec = spec_of(2, 1);
  spec.cut = PipelineCut::kCost;
  const PipelinePlan plan = pipeline_plan(spec, shape, shape.parameters(), 4, Wire::kBf16);
  EXPECT_EQ(plan.parts[0].end_layer, 11);
  EXPECT_DOUBLE_EQ(plan.parts[0].share, plan.parts[1].share);
}

TEST(PipelineCut, GivenAndInterleaved) {
  PipelineSpec spec = spec_of(2, 2, PipelineSchedule::kInterleaved, 2);
  spec.cut = PipelineCut::kGiven;
  spec.layers = {1, 2, 1, 0};
  const PipelinePlan plan = plan_of(spec, 4);
  EXPECT_EQ(plan.columns_of(0), (Columns{{0, 256 + 656}, {256 + 3 * 656, 256 + 4 * 656}}));
  EXPECT_EQ(plan.columns_of(1), (Columns{{256 + 656, 256 + 3 * 656}, {256 + 4 * 656, 520 + 4 * 656}}));
  EXPECT_DOUBLE_EQ(plan.share_of(0) + plan.share_of(1), 1);
}

// 16 tokens a micro-batch of 8 numbers; int8 in blocks of 64 has a scale of 4 bytes a block.
TEST(PipelineBytes, MicroBatchesTimesHopsTimesNumbers) {
  PipelineSpec spec = spec_of(4, 4);
  EXPECT_EQ(plan_of(spec, 4).bytes_of_step(), 4 * 3 * 16 * 8 * 2 * 2);
  spec.boundary.activations = Quantized{Quantizer::kInt8, 64};
  const PipelinePlan plan = plan_of(spec, 4);
  EXPECT_EQ(plan.forward_bytes, (std::vector<std::int64_t>(3, 16 * 8 + 2 * 4)));
  EXPECT_EQ(plan.backward_bytes, (std::vector<std::int64_t>(3, 16 * 8 * 2)));
  spec.boundary.bytes_per_token = 2.5;
  EXPECT_EQ(plan_of(spec, 4).forward_bytes, (std::vector<std::int64_t>(3, 40)));
}

// Per micro-batch 128 numbers. A row of blocks of 64: int6 2 · (4 + 48), int3 2 · (4 + 24), wire 2 · 128.
TEST(PipelineBytes, AListHasAFormatForEachHop) {
  PipelineSpec spec = spec_of(4, 4);
  const Quantized int6{Quantizer::kInt6, 64}, int3{Quantizer::kInt3, 64};
  spec.boundary.activations = HopFormats({int6, std::nullopt, int3});
  spec.boundary.gradients = HopFormats({int3, int6, std::nullopt});
  const PipelinePlan plan = plan_of(spec, 4);
  EXPECT_EQ(plan.forward_bytes, (std::vector<std::int64_t>{104, 256, 56}));
  EXPECT_EQ(plan.backward_bytes, (std::vector<std::int64_t>{56, 104, 256}));
  EXPECT_EQ(plan.bytes_of_step(), 4 * (104 + 256 + 56) * 2);
  EXPECT_FALSE(plan.by_bits);
}

PipelineSpec learned_spec(int floor, int ceiling, bool with_gradients) {
  PipelineSpec spec = spec_of(3, 4);
  LearnedBits& learned = spec.boundary.learned.emplace();
  learned.floor = floor;
  learned.ceiling = ceiling;
  learned.block = 64;
  learned.gradients = with_gradients;
  return spec;
}

// 128 numbers in two blocks: 8 bytes of scales and 16 bytes a bit.
TEST(PipelineBytes, OfLearnedBitsFollowFromWhatWasUsed) {
  const PipelinePlan plan = plan_of(learned_spec(3, 6, true), 4);
  EXPECT_EQ(plan.forward_bytes, (std::vector<std::int64_t>(2, 8 + 16 * 6))) << "before it is known";
  EXPECT_EQ(plan.bytes_of_step(), 4 * 2 * 2 * 104);
  Trace trace = trace_of(plan, {1, 2, 5, shape_of(4).parameters()});
  EXPECT_EQ(trace.stage_bytes(5, 1), 4 * 2 * 2 * 104);
  trace.bits = {{{6, 6}, {6, 5}}, {{6, 6}, {6, 5}}, {{4, 6}, {6, 3}}, {{4, 6}, {6, 3}}, {{3, 3}, {3, 3}}};
  const std::string written = text_of(trace);
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 1 + 3) << "what is as before is not repeated";
  const Trace back = trace_from(written);
  EXPECT_EQ(back.bits, trace.bits);
  EXPECT_EQ(back.hop_bytes(2, 1, 1, true), 8 + 16 * 5);
  EXPECT_EQ(back.hop_bytes(3, 0, 0, true), 8 + 16 * 4);
  EXPECT_EQ(back.hop_bytes(3, 1, 1, false), 8 + 16 * 3);
  EXPECT_EQ(back.stage_bytes(3, 1), 4 * 2 * (8 + 16 * 6 + 8 + 16 * 3));
}

TEST(PipelineBytes, GradientsOfLearnedHopsMayHaveAFormatOfTheirOwn) {
  PipelineSpec spec = learned_spec(2, 8, false);
  spec.boundary.gradients = Quantized{Quantizer::kInt7, 64};
  Trace trace = trace_of(plan_of(spec, 4), {1, 1, 1, shape_of(4).parameters()});
  trace.bits = {{{2, 8}}};
  EXPECT_EQ(trace.hop_bytes(1, 0, 0, true), 8 + 32);
  EXPECT_EQ(trace.hop_bytes(1, 0, 1, true), 8 + 128);
  EXPECT_EQ(trace.hop_bytes(1, 0, 0, false), 8 + 112);
}

TEST(PipelineTrace, LearnedBitsMustBeThere) {
  const Trace trace = trace_of(plan_of(learned_spec(3, 6, true), 4), {1, 2, 5, shape_of(4).parameters()});
  const auto refused = [&](const std::string& lines, const Json& patch = Json::object()) {
    Json header = Json::parse(text_of(trace));
    header.merge_patch(patch);
    return refused_parts([&] { trace_from(header.dump() + "\n" + lines); });
  };
  EXPECT_EQ(refused("").path, "bits");
  EXPECT_EQ(refused("").hint.substr(0, 11), "train first");
  EXPECT_EQ(refused("{\"step\":2,\"bits\":[[6,6],[6,6]]}").path, "line 2, step");
  const std::string right = "{\"step\":1,\"bits\":[[6,6],[6,6]]}";
  EXPECT_EQ(refused(right, {{"steps", 1000000000}}).path, "line 2, bits") << "memory has an end";
  EXPECT_EQ(refused(right, {{"pipeline", {{"by_bits", {{"fewest", 7}}}}}}).path, "line 1, pipeline.by_bits");
  for (const char* bits : {"[[6,6]]", "[[6,6],[6,7]]", "[[6,6],[6,2]]"})
    EXPECT_EQ(refused("{\"step\":1,\"bits\":" + std::string(bits) + "}").path, "line 2, bits") << bits;
}

Json pipeline_case(Json pipeline) {
  Json json = {{"method", {{"name", "ddp"}}}, {"pipeline", std::move(pipeline)}};
  return with_effective_pipeline(json);
}

TEST(PipelineSection, AMethodsOwnKeysTakeThePlaceOfTheScenarios) {
  Json json = Json::parse(R"({"method": {"name": "ddp", "pipeline": {"routing": "random"}},
                              "pipeline": {"stages": 4, "routing": "straight"}})");
  json = with_effective_pipeline(json);
  EXPECT_FALSE(json["method"].contains("pipeline"));
  const PipelineSpec spec = parse_pipeline(json);
  EXPECT_EQ(spec.stages, 4);
  EXPECT_EQ(spec.routing, MicrobatchRouting::kRandom);
  Json without = {{"method", {{"name", "ddp"}}}};
  EXPECT_EQ(with_effective_pipeline(without), without) << "nothing new where nothing new is used";
}

TEST(PipelineSection, FormatsByHop) {
  const auto boundary = [](const char* pipeline) {
    return parse_pipeline(pipeline_case(Json::parse(pipeline))).boundary;
  };
  const BoundarySpec list =
      boundary(R"({"stages": 4, "activations": ["int8", "wire", "int3"], "block": 32})");
  for (const HopFormats* formats : {&list.activations, &list.gradients}) {
    EXPECT_EQ(formats->at(0), (Quantized{Quantizer::kInt8, 32}));
    EXPECT_EQ(formats->at(1), std::nullopt);
    EXPECT_EQ(formats->at(2), (Quantized{Quantizer::kInt3, 32}));
  }
  const BoundarySpec back =
      boundary(R"({"stages": 3, "activations": "int5", "gradients": ["wire", "e3m0"]})");
  EXPECT_EQ(back.activations.at(1), (Quantized{Quantizer::kInt5, 1024}));
  EXPECT_EQ(back.gradients.at(0), std::nullopt);
  EXPECT_EQ(back.gradients.at(1), (Quantized{Quantizer::kE3m0, 1024}));
  EXPECT_FALSE(boundary(R"({"stages": 2, "activations": "int5", "gradients": "wire"})").gradients.any());
  EXPECT_TRUE(boundary(R"({"stages": 4, "chunks": 2, "schedule": "interleaved", "microbatches": 4,
      "activations": ["int4", "int4", "int4", "int4", "int4", "int4", "int4"]})")
                  .activations.any());
}

TEST(PipelineSection, LearnedBitsHaveDefaultsThatTheCaseSays) {
  Json pipeline = {{"stages", 2}, {"activations", "learned"}};
  const Json resolved = pipeline_case(pipeline);
  EXPECT_EQ(resolved["pipeline"]["learned_bits"], Json::parse(R"({"floor": 2, "ceiling": 8, "penalty": 0.01,
      "lr": 0.02, "gate": 2.5, "first_step": 1})"));
  const BoundarySpec boundary = parse_pipeline(resolved).boundary;
  EXPECT_FALSE(boundary.activations.any());
  EXPECT_TRUE(boundary.learned->gradients);
  pipeline["gradients"] = "wire";
  EXPECT_FALSE(parse_pipeline(pipeline_case(pipeline)).boundary.learned->gradients);
  EXPECT_FALSE(pipeline_case({{"stages", 2}, {"activations", "int8"}})["pipeline"].contains("learned_bits"))
      << "nothing new where nothing new is used";
}

TEST(PipelineTrace, ComesBackWithAStageForEachRule) {
  OperationRule rule = rule_of("gradient.stage1", "ring", 1);
  rule.stage = 1;
  PipelineSpec spec = spec_of(2, 4, PipelineSchedule::kInterleaved, 2);
  spec.routing = MicrobatchRouting::kRandom;
  spec.blocks = true;
  const PipelinePlan plan = plan_of(spec, 4);
  const PlanContext context{1, 3, 2, shape_of(4).parameters()};
  const Trace back = read_back(trace_of(plan, context, {rule}));
  EXPECT_EQ(to_json(back.plan.pipeline), to_json(plan));
  EXPECT_EQ(back.plan.pipeline.bytes_of_step(), 4 * 3 * 16 * 8 * 2 * 2);
  EXPECT_EQ(back.plan.rules[0].stage, 1);
  rule.stage = -1;
  EXPECT_EQ(refused_path([&] { read_back(trace_of(plan, context, {rule})); }), "line 1, stage");
}

// Masks of two stages of one step leave out other columns, and without stages they are what they were.
TEST(PipelineDraws, EachStageDrawsItsOwnMasks) {
  OperationPlan plan;
  plan.rules.resize(3);
  plan.rules[1].stage = 0;
  plan.rules[2].stage = 1;
  std::set<std::uint64_t> draws;
  for (int step = 1; step <= 3; ++step)
    for (const Operation& operation : operations_at(plan, {5, 2, 3, 1000}, step))
      draws.insert(operation.draw);
  EXPECT_EQ(draws.size(), 9u);
  EXPECT_EQ(draws.count(RandomStream(5, Purpose::kMasks, 0, 2).bits64()), 1u);
}

}  // namespace longhaul::pipeline_test
