// What `longhaul check` says of stages that cannot be: with the path, what was found and what is allowed.
#include <gtest/gtest.h>

#include "cli/validated_scenario.h"
#include "tests/support/files.h"
#include "tests/support/said.h"

namespace longhaul::pipeline_check_test {

// Trained is a model of 3 layers, and what travels has 12.
Json scenario_of(const Json& pipeline, const Json& method = {{"name", "ddp"}}) {
  return {{"name", "stages"},
          {"replicas", 4},
          {"methods", {method}},
          {"pipeline", pipeline},
          {"train", {{"steps", 100}, {"model", {{"layers", 3}}}, {"batch", 4}}},
          {"workload", {{"model", "llama-small"}}},
          {"network", {{"topology", {{"star", {{"rate", "1Gbps"}, {"rtt", "50ms"}}}}}}}};
}

InputErrorParts error_of(const Json& scenario) {
  const TemporaryFolder folder;
  write_text(folder.file("scenario.json"), scenario.dump());
  return thrown_by([&] { validated_scenario(folder.file("scenario.json"), {}); }).parts();
}

TEST(PipelineCheck, ABatchThatDoesNotDivide) {
  const InputErrorParts error = error_of(scenario_of({{"stages", 2}, {"microbatches", 3}}));
  EXPECT_EQ(error.path, "pipeline.microbatches");
  EXPECT_EQ(error.allowed, "a divisor of train.batch");
}

TEST(PipelineCheck, APlacementThatLacksAWorker) {
  Json scenario = scenario_of({{"stages", 2}});
  scenario["network"]["rank_order"] = {0, 1, 2, 3, 4, 5, 6};
  const InputErrorParts error = error_of(scenario);
  EXPECT_EQ(error.path, "network.rank_order");
  EXPECT_EQ(error.found, "found 7 places, the scenario has 8 workers (4 replicas of 2 stages)");
}

TEST(PipelineCheck, AnOddNumberOfColumns) {
  Json scenario = scenario_of({{"stages", 2}}, {{"name", "noloco"}, {"inner_steps", 10}});
  scenario["replicas"] = 3;
  const TemporaryFolder folder;
  write_text(folder.file("scenario.json"), scenario.dump());
  EXPECT_EQ(validated_scenario(folder.file("scenario.json"), {}).cases.size(), 1u) << "one sits out";
}

TEST(PipelineCheck, PathsByThroughputThatATrainingCannotFollow) {
  const Json pipeline = {{"stages", 2}, {"routing", "throughput"}};
  const InputErrorParts error = error_of(scenario_of(pipeline, {{"name", "diloco"}, {"inner_steps", 10}}));
  EXPECT_EQ(error.path, "pipeline.routing");
  const TemporaryFolder folder;
  write_text(folder.file("scenario.json"), scenario_of(pipeline).dump());
  EXPECT_EQ(validated_scenario(folder.file("scenario.json"), {}).cases.size(), 1u) << "ddp's are all alike";
}

TEST(PipelineCheck, PartialPathsThatCannotBe) {
  const auto error = [](Json pipeline) { return error_of(scenario_of(pipeline)); };
  const InputErrorParts many = error({{"stages", 3}, {"skip", 2}});
  EXPECT_EQ(many.path, "pipeline.skip");
  EXPECT_EQ(many.found, "found 2 with 3 stages");
  EXPECT_EQ(many.allowed, "at most 1");
  EXPECT_EQ(error({{"stages", 3}, {"skip", 1}, {"sends", "blocking"}}).path, "pipeline.skip");
  EXPECT_EQ(error({{"stages", 3}, {"skip", 1}, {"routing", "throughput"}}).path, "pipeline.routing");
  EXPECT_EQ(error({{"stages", 3}, {"reorder", true}}).path, "pipeline.reorder");
  EXPECT_EQ(error({{"stages", 3}, {"skip", -1}}).path, "pipeline.skip");
  EXPECT_EQ(error({{"stages", 3}, {"skip", 1}, {"activations", {"int8", "int4"}}}).found,
            "found beside a format for each hop");
}

// Of the trained model all parts in the middle have a layer, of the one that travels some have two.
TEST(PipelineCheck, NeighboursThatAreNotAlikeInTheModelThatTravels) {
  Json scenario = scenario_of({{"stages", 5}, {"reorder", true}});
  scenario["train"]["model"]["layers"] = 5;
  const InputErrorParts error = error_of(scenario);
  EXPECT_EQ(error.path, "pipeline.reorder");
  EXPECT_EQ(error.found, "found true, with parts that are not alike");
}

TEST(PipelineCheck, AListOfFormatsThatIsTooShortOrTooLong) {
  const InputErrorParts few = error_of(scenario_of({{"stages", 3}, {"activations", Json::array({"int8"})}}));
  EXPECT_EQ(few.path, "pipeline.activations");
  EXPECT_EQ(few.found, "found a list of 1 formats");
  EXPECT_EQ(few.allowed, "a list of 2, one for each hop between 3 parts");
  const InputErrorParts many = error_of(scenario_of({{"stages", 2}, {"gradients", {"int8", "wire"}}}));
  EXPECT_EQ(many.path, "pipeline.gradients");
  EXPECT_EQ(many.allowed, "a list of 1, one for each hop between 2 parts");
  EXPECT_EQ(error_of(scenario_of({{"stages", 1}, {"activations", Json::array({"int8"})}})).allowed,
            "a word: one part has no hops");
  EXPECT_EQ(error_of(scenario_of({{"stages", 3}, {"activations", {"int8", "int9"}}})).path,
            "pipeline.activations[1]");
  EXPECT_EQ(error_of(scenario_of({{"stages", 2}, {"activations", Json::array({"learned"})}})).path,
            "pipeline.activations[0]");
  EXPECT_EQ(error_of(scenario_of({{"stages", 2}, {"gradients", "learned"}})).path, "pipeline.gradients");
}

InputErrorParts error_of_learned(const Json& more, const Json& method = {{"name", "ddp"}}) {
  Json pipeline = {{"stages", 2}, {"activations", "learned"}};
  pipeline.update(more);
  return error_of(scenario_of(pipeline, method));
}

TEST(PipelineCheck, LearnedBitsBesideWhatTheyCannotBeTrainedWith) {
  const InputErrorParts random = error_of_learned({{"routing", "random"}});
  EXPECT_EQ(random.path, "pipeline.routing");
  EXPECT_EQ(random.found, "found \"random\" beside activations \"learned\"");
  EXPECT_EQ(error_of_learned({{"routing", "throughput"}}).path, "pipeline.routing");
  EXPECT_EQ(error_of_learned({{"bytes_per_token", 8}}).path, "pipeline.bytes_per_token");
  const InputErrorParts floor = error_of_learned({{"learned_bits", {{"floor", 6}, {"ceiling", 4}}}});
  EXPECT_EQ(floor.path, "pipeline.learned_bits.floor");
  EXPECT_EQ(floor.found, "found 6 with ceiling 4");
  EXPECT_EQ(error_of_learned({{"learned_bits", {{"ceiling", 9}}}}).path, "pipeline.learned_bits.ceiling");
  EXPECT_EQ(error_of_learned({{"activations", "int8"}, {"learned_bits", Json::object()}}).path,
            "pipeline.learned_bits");
  EXPECT_EQ(error_of_learned(Json::object(), {{"name", "single"}}).path, "pipeline.activations");
  Json scenario = scenario_of({{"stages", 2}, {"activations", "learned"}});
  scenario["train"]["device"] = "cuda";
  EXPECT_EQ(error_of(scenario).found, "found \"learned\" with train.device \"cuda\"");
  scenario["train"]["device"] = "cpu";
  scenario["train"]["precision"] = "bf16";
  EXPECT_EQ(error_of(scenario).found, "found \"learned\" with train.precision \"bf16\"");
}

TEST(PipelineCheck, LearnedBitsWithoutATraining) {
  Json scenario = scenario_of({{"stages", 2}, {"activations", "learned"}});
  scenario.erase("train");
  scenario["workload"].update({{"steps", 10}, {"tokens", 64}});
  const InputErrorParts error = error_of(scenario);
  EXPECT_EQ(error.path, "pipeline.activations");
  EXPECT_EQ(error.found, "found \"learned\", but nothing is trained");
}

TEST(PipelineCheck, UnitsOfAllLayersAreNotStaged) {
  EXPECT_EQ(error_of(scenario_of({{"stages", 2}}, {{"name", "ist"}, {"inner_steps", 10}})).path,
            "pipeline.stages");
}

Json swarm(const Json& more) {
  Json pipeline = {{"stages", 2}, {"routing", "throughput"}};
  pipeline.update(more);
  return pipeline;
}

TEST(PipelineCheck, MovesOfWorkersNeedRoutingByThroughput) {
  const InputErrorParts error =
      error_of(scenario_of({{"stages", 2}, {"routing", "random"}, {"rebalance_every", 5}}));
  EXPECT_EQ(error.path, "pipeline.rebalance_every");
  EXPECT_EQ(error.allowed, "routing \"throughput\"");
  EXPECT_EQ(error_of(scenario_of(swarm({{"state_bytes", 12}}))).path, "pipeline.state_bytes");
}

// Without train any method may be routed by throughput, but workers move only where weights are the same.
TEST(PipelineCheck, MovesOfWorkersNeedEqualWeights) {
  Json scenario = scenario_of(swarm({{"rebalance_every", 5}}), {{"name", "diloco"}, {"inner_steps", 10}});
  scenario.erase("train");
  scenario["workload"].update({{"steps", 10}, {"tokens", 4096}});
  const InputErrorParts error = error_of(scenario);
  EXPECT_EQ(error.path, "pipeline.rebalance_every");
  EXPECT_EQ(error.found, "found 5 with method \"diloco\"");
}

}  // namespace longhaul::pipeline_check_test
