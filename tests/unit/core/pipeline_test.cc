// Cuts, schedules and paths by hand, and what must hold of every plan of paths.
#include "core/plan/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/plan/paths.h"
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

// Micro-batches of 16 tokens.
PipelinePlan plan_of(const PipelineSpec& spec, int layers) {
  return pipeline_plan(spec, shape_of(layers), shape_of(layers).parameters(), 16 * spec.microbatches,
                       Wire::kBf16);
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
    const PipelinePlan plan = plan_of(spec, spec.stages * spec.chunks);
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

PipelineSpec skipping(int stages, int microbatches, int skip, bool reorders = false) {
  PipelineSpec spec = spec_of(stages, microbatches);
  spec.skip = skip;
  spec.reorders = reorders;
  return spec;
}

using Orders = std::vector<std::vector<int>>;

// No part of a replica is met twice by the micro-batches of one number, whatever is left out and swapped;
// where nothing is, each hop is a permutation.
TEST(PipelinePaths, OnRandomRoutesNoPartIsMetTwice) {
  for (const auto& [skip, partial] :
       {std::pair(0, PartialPaths::kScheduled), {2, PartialPaths::kScheduled}, {2, PartialPaths::kRandom}}) {
    PipelineSpec spec = skipping(6, 2, skip, skip > 0);
    spec.partial = partial;
    spec.routing = MicrobatchRouting::kRandom;
    const PipelinePlan plan = plan_of(spec, 6);
    int away = 0;
    std::set<std::vector<Route>> different;
    for (int step = 1; step <= 50; ++step)
      for (int m = 0; m < 2; ++m) {
        const std::vector<Route> paths = paths_of(plan, 3, 5, step, m);
        std::set<Stop> met;
        for (int home = 0; home < 5; ++home)
          for (const Stop& stop : paths[as_index(home)]) {
            if (!stop.is_there()) continue;
            EXPECT_TRUE(met.insert(stop).second) << stop.replica << " " << stop.part;
            EXPECT_TRUE(stop.part > 0 || stop.replica == home);
            away += stop.replica != home;
          }
        EXPECT_EQ(met.size(), as_index(5 * (6 - skip)));
        EXPECT_EQ(paths, paths_of(plan, 3, 5, step, m));
        different.insert(paths);
      }
    EXPECT_GT(away, 1000);
    EXPECT_EQ(different.size(), 100u);
  }
}

// Of 6000 draws each of three replicas follows each other one 2000 times, ± 4 standard deviations of 37.
TEST(PipelinePaths, EveryReplicaFollowsAsOften) {
  PipelineSpec spec = spec_of(2, 1);
  spec.routing = MicrobatchRouting::kRandom;
  const PipelinePlan plan = plan_of(spec, 2);
  int count[3][3] = {};
  for (int step = 1; step <= 6000; ++step) {
    const auto paths = paths_of(plan, 1, 3, step, 0);
    for (int home = 0; home < 3; ++home) ++count[home][paths[as_index(home)][1].replica];
  }
  for (const auto& row : count)
    for (const int times : row) EXPECT_NEAR(times, 2000, 150);
}

TEST(PipelinePartial, OrdersAreThoseWorkedOutByHand) {
  // Two workers between ends that take no time: the second micro-batch finds the first part taken, and meets
  // the other one.
  EXPECT_EQ(scheduled_orders(plan_of(skipping(4, 2, 1), 4), {0, 1, 1, 0}),
            (Orders{{0, 1, -1, 3}, {0, -1, 2, 3}}));
  // Three workers, of which each micro-batch meets two. The first one is at 1 from 0 to 1 and at 2 from 1 to
  // 2; the second one finds 1 taken and meets 2 and 3 at those times. Each part is met twice: the third one
  // must take 1 and 3.
  EXPECT_EQ(scheduled_orders(plan_of(skipping(5, 3, 1), 5), {0, 1, 1, 1, 0}),
            (Orders{{0, 1, 2, -1, 4}, {0, -1, 2, 3, 4}, {0, 1, -1, 3, 4}}));
  // The second one goes the other way round: 2 is free at first, and 1 after that.
  const PipelinePlan reorders = plan_of(skipping(4, 2, 0, true), 4);
  EXPECT_EQ(scheduled_orders(reorders, {0, 1, 1, 0}), (Orders{{0, 1, 2, 3}, {0, 2, 1, 3}}));
  EXPECT_EQ(scheduled_orders(reorders, {1, 1, 1, 1}), (Orders{{0, 1, 2, 3}, {0, 1, 2, 3}}))
      << "the first part lets one through after another: nothing is gained";
}

TEST(PipelinePartial, EveryPlanIsEvenAndLeavesOutAsMany) {
  for (const int stages : {3, 4, 6, 9})
    for (const int microbatches : {1, 2, 5, 8, 24})
      for (int skip = 0; skip <= stages - 2; ++skip)
        for (const bool reorders : {false, true}) {
          if (reorders ? stages < 4 : skip == 0) continue;
          const PipelinePlan plan = plan_of(skipping(stages, microbatches, skip, reorders), stages);
          ASSERT_EQ(plan.orders.size(), as_index(microbatches));
          std::map<int, int> visits;
          for (const std::vector<int>& order : plan.orders) {
            ASSERT_EQ(order.size(), as_index(stages));
            EXPECT_EQ(order.front(), 0);
            EXPECT_EQ(order.back(), stages - 1);
            EXPECT_EQ(std::count(order.begin(), order.end(), -1), skip);
            int swaps = 0;
            for (int place = 0; place < stages; ++place) {
              const int part = order[as_index(place)];
              if (part < 0) continue;
              ++visits[part];
              if (part != place) {
                ++swaps;
                EXPECT_EQ(order[as_index(part)], place) << "a neighbour in its place";
                EXPECT_EQ(std::abs(part - place), 1);
              }
            }
            EXPECT_TRUE(swaps == 0 || (swaps == 2 && reorders)) << swaps;
          }
          const int all = microbatches * (stages - 2 - skip), least = all / (stages - 2);
          for (int part = 1; part + 1 < stages; ++part) {
            EXPECT_GE(visits[part], least);
            EXPECT_LE(visits[part], least + 1);
          }
        }
}

// 6000 draws of 2 of 4 parts to leave out: each is met 3000 times, ± 4 standard deviations of 39. Three
// adjacent pairs at most can be swapped.
TEST(PipelinePartial, DrawnPathsAreUniform) {
  PipelineSpec spec = skipping(6, 4, 2, true);
  spec.partial = PartialPaths::kRandom;
  const PipelinePlan plan = plan_of(spec, 6);
  EXPECT_TRUE(plan.orders.empty());
  const auto left_out = [](const Route& path) {
    std::vector<bool> out;
    for (const Stop& stop : path) out.push_back(!stop.is_there());
    return out;
  };
  std::map<int, int> visits;
  int swapped = 0, alike = 0;
  for (int step = 1; step <= 500; ++step)
    for (int m = 0; m < 4; ++m) {
      const std::vector<Route> paths = paths_of(plan, 7, 3, step, m);
      EXPECT_EQ(paths, paths_of(plan, 7, 3, step, m));
      alike += left_out(paths[0]) == left_out(paths[1]);
      for (int home = 0; home < 3; ++home) {
        const Route& path = paths[as_index(home)];
        EXPECT_EQ(path, straight_path(plan, 7, step, m, home));
        const std::vector<bool> out = left_out(path);
        EXPECT_EQ(std::count(out.begin(), out.end(), true), 2);
        for (int place = 0; place < 6; ++place) {
          const Stop& stop = path[as_index(place)];
          if (!stop.is_there()) continue;
          EXPECT_EQ(stop.replica, home);
          ++visits[stop.part];
          swapped += stop.part == place + 1;
        }
      }
    }
  for (const int part : {1, 2, 3, 4}) EXPECT_NEAR(visits[part], 3000, 160);
  EXPECT_EQ(visits[0], 6000);
  EXPECT_EQ(visits[5], 6000);
  EXPECT_NEAR(swapped, 3000, 160) << "of six pairs that may be left three are neighbours";
  EXPECT_NEAR(alike, 2000. / 6, 70) << "replicas draw for themselves";
}

TEST(PipelinePartial, BytesFollowTheHops) {
  // 16 tokens of 8 numbers of 2 bytes; 5 micro-batches, 6 − 1 − 2 hops, both ways.
  EXPECT_EQ(plan_of(skipping(6, 5, 2), 6).bytes_of_step(), 5 * 3 * 256 * 2);
  EXPECT_EQ(plan_of(spec_of(6, 5), 6).bytes_of_step(), 5 * 5 * 256 * 2);
  EXPECT_EQ(plan_of(skipping(5, 2, 1), 7).bytes_of_step(), 2 * 3 * 256 * 2) << "of 2, 2, 1, 1, 1 layers";
}

TEST(PipelinePartial, HopsAreThoseOfThePlan) {
  using Hops = std::set<std::pair<int, int>>;
  PipelinePlan plan = plan_of(spec_of(4, 2), 4);
  EXPECT_EQ(hops_of(plan), (Hops{{0, 1}, {1, 2}, {2, 3}}));
  plan.skip = 1;
  plan.orders = {{0, 1, -1, 3}, {0, -1, 2, 3}};
  EXPECT_EQ(hops_of(plan), (Hops{{0, 1}, {0, 2}, {1, 3}, {2, 3}}));
  plan.skip = 0;
  plan.reorders = true;
  plan.orders = {{0, 2, 1, 3}};
  EXPECT_EQ(hops_of(plan), (Hops{{0, 2}, {2, 1}, {1, 3}}));
}

TEST(PipelinePartial, ComesBackFromATrace) {
  const PipelinePlan plan = plan_of(skipping(6, 4, 2, true), 6);
  const auto read = [](const Json& json, int layers = 6) {
    return pipeline_from(json, shape_of(layers).parameters());
  };
  const PipelinePlan back = read(to_json(plan));
  EXPECT_EQ(back.skip, 2);
  EXPECT_TRUE(back.reorders);
  EXPECT_EQ(back.orders, plan.orders);
  Json json = to_json(plan);
  for (const Json& order :
       {Json({0, 1, 2, 3, 4, 5}), Json({0, -1, -1, 3, 4, 4}), Json({0, -1, -1, 3, 3, 5}), Json({0, 5})}) {
    json["partial"]["orders"] = Json::array({order, order, order, order});
    EXPECT_THROW(read(json), InputError) << order;
  }
  // With two parts a stage passes are numbered in rounds of the stages, which gpipe does not have.
  json = to_json(plan_of(spec_of(4, 2), 4));
  read(json, 4);
  json["stages"] = 2;
  EXPECT_THROW(read(json, 4), InputError);
}

}  // namespace longhaul::pipeline_test
