// Plans of a model in stages: memory, time and bytes by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/units.h"
#include "planner/faulty_times.h"
#include "planner/memory_need.h"
#include "planner/plan_data.h"
#include "planner/plan_text.h"
#include "planner/rank_places.h"
#include "tests/support/said.h"
#include "tests/unit/planner/in_process.h"

namespace longhaul::pipelines_test {

Json star_in_stages(const Json& pipeline, const Json& change = Json::object()) {
  Json json = star(change);
  json["candidates"]["pipelines"] = Json::array({pipeline});
  return json;
}

// m micro-batches in p stages of as much work take (m + p - 1) / m times as long as the work (GPipe, arXiv
// 1811.06965), with v parts on each worker (m + (p - 1) / v) / m times (arXiv 2104.04473, section 2.2).
// Nothing else takes time here.
TEST(Pipelines, BubblesByTheirClosedForm) {
  struct Row {
    int stages, microbatches;
    const char* schedule;
    int chunks;
    double longer;
  };
  for (const Row& row : {Row{2, 4, "gpipe", 1, 5 / 4.},
                         {4, 10, "gpipe", 1, 13 / 10.},
                         {4, 20, "1f1b", 1, 23 / 20.},
                         {4, 20, "interleaved", 2, 21.5 / 20},
                         {2, 1, "1f1b", 1, 2.}}) {
    SCOPED_TRACE(row.schedule);
    Json json = star_in_stages({{"stages", row.stages},
                                {"microbatches", row.microbatches},
                                {"schedule", row.schedule},
                                {"chunks", row.chunks},
                                {"bytes_per_token", 1}},
                               {{"parameters", 1000}, {"nodes", 8}, {"tokens", 800000}});
    json["network"]["topology"]["star"] = {{"rate", "1000Tbps"}, {"rtt", "0s"}};
    const PlanResult result = planned(json);
    const Evaluation& choice = result.choice();
    EXPECT_NEAR(choice.total_s(), 500 * row.longer, 1e-3);
    EXPECT_NEAR(choice.bubble_s, 500 * (row.longer - 1), 1e-3);
    EXPECT_NEAR(choice.utilization, 1 / row.longer, 1e-5);
    EXPECT_EQ(choice.config.steps(), 1000) << "of as many tokens as without stages";
    EXPECT_EQ(choice.config.replicas, 8 / row.stages);
  }
}

// A micro-batch of 200 tokens of 7240 bytes crosses a hop in 8 ms and 10 ms on the way, forward and back.
// Both stages at once exchange half of 362 M parameters between two replicas: two rounds of 181 MB.
TEST(Pipelines, HopsAndExchangesByHand) {
  const auto& [folder, plan, result] =
      Planned(star_in_stages({{"stages", 2}, {"microbatches", 1}, {"bytes_per_token", 7240}}));
  const Evaluation& choice = result.choice();
  EXPECT_EQ(choice.candidate.words,
            "diloco, H = 20, bf16, 2 stages, microbatches 1, bytes_per_token 7240, ring, 1 connection");
  EXPECT_NEAR(choice.total_s(), 1000 * (1 + 2 * 0.018) + 50 * 2 * 1.01, 1e-6);
  EXPECT_TRUE(choice.time.is_exact);
  EXPECT_NEAR(choice.bubble_s, 500, 1e-6);
  EXPECT_NEAR(choice.bytes(), (50 * 4 * 2 * 181e6 + 1000 * 2 * 2 * 200 * 7240.) * 1500 / 1448, 1);
  EXPECT_EQ(chosen_scenario(plan, result)["pipeline"]["stages"], 2);
}

// Two nodes at each of two sites: a replica's stages stand at one, a stage's ring of two is between them.
TEST(Pipelines, StagesAtOneSiteSendNothingOut) {
  const Json pipeline = {{"stages", 2}, {"microbatches", 2}, {"bytes_per_token", 7240}};
  Json json = two_sites({{"candidates", {{"pipelines", Json::array({pipeline})}}}});
  const PlanResult result = planned(json);
  EXPECT_EQ(placement_in_words(result.choice().config),
            "a: 0-1; b: 2-3 (rank 2 r + s is stage s of replica r)");
  EXPECT_NEAR(result.choice().traffic.leaving[0], 50 * 2 * 2 * 181e6 * 1500 / 1448, 1);
  EXPECT_EQ(result.choice().traffic.leaving.size(), 2u);
  // On random paths half of the micro-batches of each replica go to the other one: 1000 steps, both ways.
  json["candidates"]["pipelines"][0]["routing"] = "random";
  const PlanResult random = planned(json);
  EXPECT_NEAR(random.choice().traffic.leaving[0],
              (50 * 2 * 2 * 181e6 + 1000 * 2 * 0.5 * 200 * 7240) * 1500 / 1448, 1);
  EXPECT_FALSE(random.choice().time.is_exact);
}

// Layers of 4 h² + 3 h · ffn + 2 h = 41,088 parameters; embedding and output 6400 each, the last norm 64.
Json small_model() {
  Json json = star({{"parameters", nullptr}, {"tokens_per_step", 64}, {"tokens", 256000}});
  json["model"] = {{"hidden", 64}, {"layers", 4},   {"heads", 4},
                   {"ffn", 128},   {"context", 32}, {"vocabulary", 100}};
  return json;
}

constexpr double kFirstHalf = 6400 + 2 * 41088, kSecondHalf = 2 * 41088 + 64 + 6400;

// Both stages have two layers. Four micro-batches of 32 tokens over two accelerators: 1F1B has two under way
// in the first stage and one in the second, GPipe all four, and the interleaved schedule five and three of
// one layer (2104.04473).
TEST(Pipelines, MemoryOfStagesByHand) {
  struct Row {
    const char* schedule;
    int chunks;
    double first, second;  // layers under way
  };
  const double of_layer = 16 * 64;
  for (const Row& row : {Row{"1f1b", 1, 4, 2}, {"gpipe", 1, 8, 8}, {"interleaved", 2, 5, 3}}) {
    SCOPED_TRACE(row.schedule);
    Json json = small_model();
    json["candidates"]["pipelines"] = {{{"stages", 2}, {"schedule", row.schedule}, {"chunks", row.chunks}}};
    const PlanResult result = planned(json);
    const MemoryNeed& memory = result.choice().memory;
    EXPECT_EQ(result.choice().config.pipeline.microbatches, 4) << "two sequences for each stage";
    ASSERT_EQ(memory.of_stages.size(), 2u);
    EXPECT_NEAR(memory.of_stages[0], 26 * kFirstHalf / 2 + (2 * row.first + 34) * of_layer, 1e-6);
    EXPECT_NEAR(memory.of_stages[1], 26 * kSecondHalf / 2 + (2 * row.second + 34) * of_layer, 1e-6);
    EXPECT_NEAR(memory.kept_activations, 34 * row.first * of_layer, 1e-6);
  }
}

// 18 bytes of 177,216 parameters over two accelerators do not fit into 0.9 MB, with half of them they do.
TEST(Pipelines, ProposesStagesOnWhichTheModelFits) {
  const auto planned_with = [](int nodes, const char* memory) {
    Json json = small_model();
    json["nodes"] = nodes;
    json["accelerator"]["memory"] = memory;
    return planned(json);
  };
  const PlanResult result = planned_with(4, "900kB"), whole = planned_with(8, "2MB");
  EXPECT_EQ(result.choice().config.pipeline.stages, 2);
  EXPECT_EQ(result.search.candidates, 1u) << "a single replica of four stages has nothing to exchange";
  EXPECT_EQ(planned_with(8, "900kB").search.candidates, 2u) << "two and four stages";
  EXPECT_EQ(whole.choice().config.pipeline.stages, 1) << "where it fits, it is not cut";
  EXPECT_EQ(whole.search.candidates, 1u);
  const InputErrorParts error = refused_parts([&] { planned_with(8, "100kB"); });
  EXPECT_EQ(error.path, "accelerator");
  EXPECT_SAYS(error.found, "no candidate fits: on one node weights 532 kB");
  EXPECT_SAYS(error.found, "in 4 stages: weights 142 kB");
}

// Two replicas of two stages, each at a site: b's nodes take twice as long. GPipe's two micro-batches take
// three halves of b's second; a waits.
TEST(Pipelines, StagesOfSitesOfDifferentSpeedByHand) {
  Json json =
      star_in_stages({{"stages", 2}, {"microbatches", 2}, {"schedule", "gpipe"}, {"bytes_per_token", 1}},
                     {{"network", nullptr}, {"nodes", nullptr}, {"parameters", 1000}});
  json["sites"] = {{{"name", "a"}, {"nodes", 2}}, {{"name", "b"}, {"nodes", 2}, {"step_time", "1s"}}};
  json["paths"] = {{{"between", {"a", "b"}}, {"rtt", "10us"}}};
  json["inside"] = "1us";
  json["candidates"]["rank_orders"] = {"blocks"};
  const PlanResult result = planned(json);
  const Evaluation& choice = result.choice();
  EXPECT_NEAR(choice.total_s(), 1500, 0.1);
  EXPECT_NEAR(choice.compute_s, 1000, 1e-9);
  EXPECT_NEAR(choice.bubble_s, 500, 1e-3);
  EXPECT_NEAR(result.sites[0].computes, 500 / 1500., 1e-4);
  EXPECT_NEAR(result.sites[1].computes, 1000 / 1500., 1e-4);
  EXPECT_EQ(result.sites[1].why_not, "nodes: no number of stages gives 2 nodes two replicas");
}

// One of two replicas is away for 100 s of 1300, and the other one goes on: half of these steps are missing.
// What a step that is cut, and the state that is fetched again, take is below a thousandth.
TEST(Pipelines, FaultsAddWhatTheyTake) {
  const Json json = star_in_stages({{"stages", 2}, {"microbatches", 4}, {"bytes_per_token", 1}});
  const PlanResult result = planned(with_crashes(json, "retry", "peer"));
  ASSERT_EQ(result.faulty.size(), 1u);
  const FaultyTime& faulty = result.faulty[0];
  EXPECT_NEAR(faulty.longer, 1 / (1 - 0.5 * 100 / 1300) - 1, 2 * faulty.half_width);
  EXPECT_LT(faulty.half_width, 0.02);
}

TEST(Pipelines, SaysWhatCannotBe) {
  const auto error_of = [](const Json& json) { return thrown_by([&] { planned(json); }).parts(); };
  EXPECT_EQ(error_of(star_in_stages({{"stages", 3}})).path, "candidates.pipelines[0].stages");
  EXPECT_EQ(error_of(star_in_stages({{"stages", 2}})).path, "candidates.pipelines[0].bytes_per_token");
  EXPECT_EQ(error_of(star_in_stages({{"stages", 2}, {"bytes_per_token", 2}, {"routing", "throughput"}})).path,
            "candidates.pipelines");
  EXPECT_SAYS(error_of(star({{"accelerator", {{"memory", "1GB"}}}})).hint, "give model");
}

}  // namespace longhaul::pipelines_test
