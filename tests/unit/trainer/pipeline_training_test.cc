// Whole trainings of a model in stages.
#include "core/plan/combinations.h"
#include "tests/support/every_method.h"
#include "tests/support/said.h"
#include "tests/unit/trainer/compared_trainings.h"
#include "trainer/data/dataset.h"
#include "trainer/optimizer/adamw.h"

namespace longhaul::pipeline_training_test {

const Json kStraight = {{"stages", 2}}, kRandom = {{"stages", 2}, {"microbatches", 2}, {"routing", "random"}},
           kThreeStages = {{"stages", 3}, {"microbatches", 2}, {"routing", "random"}},
           kDdp = {{"name", "ddp"}}, kDiloco = {{"name", "diloco"}, {"inner_steps", 4}};

Json with_layers(int layers, const Json& scenario) {
  return changed(scenario, {{"train", {{"model", {{"layers", layers}}}}}});
}

// Batches of four sequences, and nothing is rounded that need not be.
Json scenario_of(const Json& method, int steps, const Json& pipeline = Json()) {
  return changed(small_scenario(method, steps, "fp32"), {{"train", {{"batch", 4}}}, {"pipeline", pipeline}});
}

const std::vector<Json> kMethods = every_method(3, {"ist", "decoupled-diloco"});

// On pieces: chunks, tiles, blocks or draws of a codec begin anew at each stage, and rounding may turn one of
// its codes into the next.
TEST(PipelineTraining, StraightRoutesAreTheWholeModelAndMicrobatchesAnotherOrderOfSums) {
  for (const Json& method : kMethods) {
    const Trained cut = train(scenario_of(method, 8, kStraight));
    const std::vector<double> losses = losses_in(cut.metrics);
    EXPECT_LT(losses.back(), losses.front()) << method;
    const bool on_pieces =
        method.contains("codec") || method["name"] == "sparta" || method["name"] == "one-bit-adam";
    if (!on_pieces) {
      EXPECT_EQ(cut.metrics, train(scenario_of(method, 8)).metrics) << method;
    }
    for (const int microbatches : on_pieces ? std::vector<int>{2} : std::vector<int>{2, 4}) {
      const Json more = changed(kStraight, {{"microbatches", microbatches}});
      expect_losses(train(scenario_of(method, 8, more)), cut, on_pieces ? 0.02 : 1e-4,
                    method.dump() + more.dump());
    }
  }
}

// Two chunks on each of two stages: a stage has two ranges of columns.
TEST(PipelineTraining, StagesOfSeveralChunksToo) {
  const Json interleaved = {{"stages", 2}, {"chunks", 2}, {"schedule", "interleaved"}, {"microbatches", 2}};
  for (const Json& method : {Json{{"name", "noloco"}, {"inner_steps", 3}, {"pattern", "presend"}},
                             Json{{"name", "streaming-diloco"}, {"inner_steps", 3}, {"fragments", 2}},
                             Json{{"name", "co2"}, {"inner_steps", 3}, {"gap_penalty", 0.5}}}) {
    const Json cut = with_layers(4, scenario_of(method, 10, interleaved)),
               routed = changed(cut, {{"pipeline", {{"routing", "random"}}}});
    const std::string whole = train(with_layers(4, scenario_of(method, 10, {{"microbatches", 2}}))).metrics,
                      random = train(routed).metrics;
    EXPECT_EQ(train(cut).metrics, whole) << method;
    EXPECT_NE(random, whole) << method;
    EXPECT_EQ(random, train(routed, 3).metrics) << method;
  }
}

// Threads leave the bits of the loop, and the loss falls; metrics.csv.
std::string expect_trains(const Json& scenario) {
  const Trained loop = train(scenario), threads = train(scenario, 3);
  expect_same(threads, loop, scenario["methods"].dump());
  const std::vector<double> losses = losses_in(loop.metrics);
  EXPECT_LT(losses.back(), losses.front()) << scenario["methods"];
  return loop.metrics;
}

// Five layers on five stages, of which each micro-batch leaves one out and may take two in the other order.
Json partial_scenario(const Json& method, int steps, const Json& more) {
  const Json partial = {{"stages", 5}, {"microbatches", 4}, {"skip", 1}, {"reorder", true}};
  return with_layers(5, scenario_of(method, steps, changed(partial, more)));
}

TEST(PipelineTraining, RandomRoutesAndPartialPathsTrainAndThreadsLeaveTheLoopsBits) {
  for (const Json& method : kMethods) {
    const std::string metrics = expect_trains(scenario_of(method, 8, kRandom));
    if (method["name"] != "single" && method["name"] != "ddp" && method["name"] != "fsdp") {
      const Json straight = changed(kRandom, {{"routing", "straight"}});
      EXPECT_NE(metrics, train(scenario_of(method, 8, straight)).metrics) << method;
    }
    for (const char* paths : {"scheduled", "random"})
      expect_trains(partial_scenario(method, 8, {{"paths", paths}}));
  }
}

TEST(PipelineTraining, WhatChangesTheNumbersIsInTheTrainingKey) {
  const auto key = [](const Json& scenario) { return training_key(case_of(scenario)); };
  std::set<std::string> metrics, keys;
  for (const Json& more : {Json{{"skip", 0}, {"reorder", false}}, Json{{"skip", 1}, {"reorder", false}},
                           Json{{"skip", 2}}, Json{{"paths", "random"}, {"reorder", false}},
                           Json{{"paths", "random"}}, Json{{"skip", 0}, {"paths", "random"}}}) {
    const Json scenario = partial_scenario(kDdp, 8, more);
    EXPECT_TRUE(metrics.insert(train(scenario).metrics).second) << more;
    EXPECT_TRUE(keys.insert(key(scenario)).second) << more;
  }
  const Json partial = partial_scenario(kDdp, 8, Json::object());
  EXPECT_TRUE(keys.insert(key(partial)).second);
  EXPECT_EQ(key(partial_scenario(kDdp, 8, {{"backward", 3}})), key(partial)) << "the plan does not know it";

  const Json random = scenario_of(kDdp, 8, kRandom);
  const auto with = [&](const Json& more) { return changed(random, {{"pipeline", more}}); };
  for (const Json& scenario : {scenario_of(kDdp, 8), scenario_of(kDdp, 8, kStraight), random,
                               with({{"activations", "int8"}}), with({{"activations", "sign"}})})
    EXPECT_TRUE(keys.insert(key(scenario)).second) << scenario["pipeline"];
  EXPECT_EQ(key(with({{"schedule", "gpipe"}})), key(random));
  // What came later is not in the names of trainings that were there before.
  EXPECT_EQ(key(with({{"skip", 0}})), key(random));
}

// The weights of a training against loops over its draws: which sequences, which path, which columns.
TEST(PipelineTraining, WhatWasDrawnIsWhatWasTrainedOn) {
  constexpr int kSteps = 3;
  const Json scenario = with_layers(3, scenario_of({{"name", "independent"}}, kSteps, kThreeStages)),
             optimizer = {{"weight_decay", 0}, {"clip", 0.5}};
  const auto& [folder, config] =
      CaseInFolder(changed(scenario, {{"replicas", 3}, {"train", {{"optimizer", optimizer}}}}));
  const Trained trained = train(config, folder, 2);

  const TrainSpec& spec = *config.train;
  const PipelinePlan plan = trained_plan_of(config).pipeline;
  const Dataset data = load_dataset(config);
  const Decoder decoder(spec.model, Device::kCpu);
  const std::size_t width = as_index(spec.model.parameters());
  using Row = std::vector<float>;
  std::vector<Row> weights(3, initial_weights(spec.model, config.seed)), first(3, Row(width)), second = first;
  int away = 0;
  for (int step = 1; step <= kSteps; ++step) {
    std::vector<std::vector<double>> sums(3, std::vector<double>(width));
    for (int m = 0; m < 2; ++m)
      for (int home = 0; home < 3; ++home) {
        const Route path = paths_of(plan, config.seed, 3, step, m)[as_index(home)];
        const Batch all = training_batch(data.training, spec, config.seed, home, step);
        const auto half = static_cast<std::ptrdiff_t>(all.tokens.size() / 2);
        const Batch batch{2, {all.tokens.begin() + m * half, all.tokens.begin() + (m + 1) * half}};
        const auto replica_of = [&](std::size_t column) {
          std::size_t part = 0;
          while (column >= as_index(plan.parts[part].columns.end)) ++part;
          return as_index(path[part].replica);
        };
        Row met(width), gradient(width);
        for (std::size_t i = 0; i < width; ++i) met[i] = weights[replica_of(i)][i];
        decoder.loss_and_gradient(met.data(), gradient.data(), batch);
        for (std::size_t i = 0; i < width; ++i) sums[replica_of(i)][i] += gradient[i] / 2;
        away += path[1].replica != home;
      }
    for (std::size_t replica = 0; replica < 3; ++replica) {
      const Row gradient(sums[replica].begin(), sums[replica].end());
      adamw_step(spec.optimizer, learning_rate(spec.optimizer, step, kSteps), step,
                 clip_factor(row_norm(gradient.data(), spec.model.parameters()), spec.optimizer.clip),
                 {{0, spec.model.parameters(), false}},
                 {weights[replica].data(), gradient.data(), first[replica].data(), second[replica].data()});
    }
  }
  EXPECT_GT(away, 6) << "of 18";
  for (std::size_t replica = 0; replica < 3; ++replica)
    for (std::size_t i = 0; i < width; ++i)
      ASSERT_NEAR(trained.weights[replica][i], weights[replica][i], 1e-6) << replica << ", " << i;
}

// The anchors that a stage sent ahead are that stage's.
TEST(PipelineTraining, PresendIsExchangeBitForBit) {
  const Json method = {{"name", "noloco"}, {"inner_steps", 3}},
             ahead = changed(method, {{"pattern", "presend"}});
  for (const Json& pipeline : {kStraight, kRandom})
    EXPECT_EQ(train(scenario_of(ahead, 14, pipeline)).metrics,
              train(scenario_of(method, 14, pipeline)).metrics)
        << pipeline;
}

TEST(PipelineTraining, QuantizedBoundariesAreTrainedWithAndEvaluated) {
  const Json scenario = scenario_of(kDiloco, 12, changed(kRandom, {{"activations", "int4"}}));
  const auto& [folder, config] = CaseInFolder(scenario);
  const Trained narrow = train(config, folder), wide = train(scenario_of(kDiloco, 12, kRandom));
  EXPECT_NE(narrow.metrics, wide.metrics);
  expect_losses(narrow, wide, 0.1, "int4");
  EXPECT_EQ(train(scenario, 2).metrics, narrow.metrics);

  const Boundaries boundaries{{1}, Quantized{Quantizer::kInt4, 1024}, std::nullopt};
  const std::vector<Batch> batches = validation_batches(load_dataset(config).validation, *config.train);
  ASSERT_EQ(batches.size(), 1u);
  const auto loss = [&](const Decoder& decoder) {
    return decoder.loss(narrow.weights[0].data(), batches[0]);
  };
  const double quantized = loss(Decoder(config.train->model, Device::kCpu, Precision::kFloat32, boundaries));
  EXPECT_NEAR(narrow.summary["final_loss"], quantized, 1e-6);  // after an outer step all replicas agree
  EXPECT_GT(std::abs(quantized - loss(Decoder(config.train->model, Device::kCpu))), 1e-5);

  EXPECT_NE(train(changed(scenario, {{"pipeline", {{"gradients", "int8"}}}})).metrics, narrow.metrics);
  // Of equal replicas: the loss of each.
  const Json ensemble = changed(scenario, {{"train", {{"evaluate_ensemble", true}}}});
  EXPECT_NEAR(train(ensemble).summary["final_loss_of_ensemble"], quantized, 1e-5);
  EXPECT_FALSE(narrow.summary.contains("final_loss_of_ensemble")) << "unless it is asked for";
}

// A list of what the word says for all hops is that word, and one that is not, on each back-end, is not.
TEST(PipelineTraining, FormatsByHop) {
  const auto metrics_with = [](const Json& activations, const Json& gradients, int threads = 1) {
    const Json pipeline = changed(kThreeStages, {{"activations", activations}, {"gradients", gradients}});
    return train(with_layers(3, scenario_of(kDiloco, 8, pipeline)), threads).metrics;
  };
  const Json int4_int3 = {"int4", "int3"}, wire_int8 = {"wire", "int8"};
  for (const char* word : {"int5", "wire"})
    EXPECT_EQ(metrics_with({word, word}, "as-activations"), metrics_with(word, {word, word})) << word;
  const std::string loop = metrics_with(int4_int3, wire_int8);
  EXPECT_EQ(metrics_with(int4_int3, wire_int8, 3), loop);
  EXPECT_NE(metrics_with({"int3", "int4"}, wire_int8), loop);
  EXPECT_NE(metrics_with(int4_int3, {"int8", "wire"}), loop);
}

// Stopped after so many rounds of the back-end, and gone on with from the last checkpoint.
TEST(PipelineTraining, ResumesToTheSameBytesOnPartialPaths) {
  const Json noloco = {{"name", "noloco"}, {"inner_steps", 2}};
  const Json scenario = changed(partial_scenario(noloco, 12, {{"paths", "random"}, {"routing", "random"}}),
                                {{"train", {{"checkpoint_every", 5}}}});
  const Trained whole = train(scenario);
  for (const int call : {30, 61, 92}) {
    const auto& [folder, config] = CaseInFolder(scenario);
    EXPECT_THROW(train_with(config, folder, Device::kCpu, std::make_unique<Stops>(call)), std::runtime_error);
    const Trained resumed = train(config, folder, 1, true);
    expect_same(resumed, whole, std::to_string(call));
    EXPECT_EQ(resumed.summary, whole.summary) << call;
  }
}

TEST(PipelineTraining, RanksTakeStraightRoutesAlone) {
  const Json method = {{"name", "noloco"}, {"inner_steps", 2}, {"pattern", "presend"}};
  for (const Json& scenario : {scenario_of(method, 9, changed(kRandom, {{"routing", "straight"}})),
                               partial_scenario(method, 9, {{"paths", "random"}})})
    EXPECT_EQ(metrics_of_two_ranks(scenario), train(scenario).metrics) << scenario["pipeline"];
  EXPECT_EQ(refused_with([&] { metrics_of_two_ranks(scenario_of(method, 9, kRandom)); }),
            "pipeline.routing: found \"random\" with 2 ranks");
}

}  // namespace longhaul::pipeline_training_test
