// What a training takes of the card's memory is counted before anything is allocated, and said where it is
// not enough. Evaluations and what is sent ahead leave the rows there: losses and sums come to the host.
#include "core/base/units.h"
#include "tests/emulated_gpu/device_memory.h"
#include "tests/support/said.h"
#include "tests/unit/trainer/compared_trainings.h"
#include "trainer/model/stacked_decoder.h"

namespace longhaul::memory_test {

const Json kNoloco = {{"name", "noloco"}, {"inner_steps", 2}};

// With so much memory, in bytes; a training's last words, or none.
std::string words_with(std::size_t memory, const Json& scenario) {
  const emulated::MemoryOf all(memory);
  const InputErrorParts parts = refused_parts([&] { stacked_on_gpu(scenario); });
  if (parts.path.empty()) return "";
  EXPECT_EQ(parts.path, "train");
  return parts.found + " | " + parts.allowed + " | " + parts.hint;
}

// By a training that stands there with its outer state in host memory; nothing is LibTorch's here.
std::int64_t taken_by(const Json& scenario) {
  const TemporaryFolder folder;
  ProgressReporter silent("test", -1, true);
  TrainingFiles files(folder.file("out"), true);
  const std::size_t before = emulated::free_bytes();
  const Training training(only_case(scenario, folder), Device::kCuda,
                          make_stacked_backend(make_loop_backend()), files, silent, one_rank(), {},
                          OuterState::kHost);
  return static_cast<std::int64_t>(before - emulated::free_bytes());
}

// The least memory with which the training is not refused, to a byte.
std::int64_t least_memory(const Json& scenario) {
  std::int64_t fails = 0, runs = std::int64_t{1} << 26;
  while (runs - fails > 1) {
    const std::int64_t middle = (fails + runs) / 2;
    (words_with(static_cast<std::size_t>(middle), scenario).empty() ? runs : fails) = middle;
  }
  return runs;
}

TEST(CardMemory, CountsToTheByteWhatATrainingAllocates) {
  for (const Json& method : Json::parse(R"([
           {"name": "ddp"}, {"name": "noloco", "inner_steps": 2}, {"name": "muloco", "inner_steps": 2},
           {"name": "noloco", "inner_steps": 2, "pattern": "presend"},
           {"name": "noloco", "inner_steps": 2,
            "pipeline": {"stages": 2, "microbatches": 2, "routing": "random"}}])")) {
    const Json scenario = small_scenario(method, 1);
    const Case config = trained_case(case_of(scenario));
    const std::string words = words_with(1000, scenario);
    const ModelShape& shape = config.train->model;
    // With layers computed again, which takes less.
    const std::int64_t activations =
        StackedDecoder::workspace_bytes(shape, Precision::kFloat32, 1, 1, true, {false, true, false}) +
        StackedDecoder::workspace_bytes(shape, Precision::kFloat32, 1, 1, false, {});
    const std::int64_t fixed = taken_by(scenario);
    EXPECT_SAYS(words, human_bytes(static_cast<double>(fixed + activations)) + " at least")
        << fixed << " and " << activations;
    // Activations may take eight tenths of what the tables leave.
    EXPECT_NEAR(static_cast<double>(least_memory(scenario)),
                static_cast<double>(fixed) + static_cast<double>(activations) / 0.8, 1.01);
  }
}

TEST(CardMemory, SaysWhatIsNeededWhatThereIsAndWhatToLower) {
  Json scenario = small_scenario(kNoloco, 4);
  const std::string few = words_with(100000, scenario);
  for (const char* words : {"4 tables of 4 replicas of", "2 more tables lie in host memory",
                            "what 100 kB are enough for", "fewer replicas on the card"})
    EXPECT_SAYS(few, words);
  scenario["train"]["model"]["context"] = 200;
  scenario["replicas"] = 2;
  EXPECT_SAYS(words_with(1000000, scenario), "a shorter context");
}

// Slow weights and outer momentum in host memory: two tables fewer on the card, and not a bit of difference.
TEST(CardMemory, OuterStateInHostMemoryIsTheSameTraining) {
  for (const Json& method : Json::parse(R"([
           {"name": "noloco", "inner_steps": 2}, {"name": "noloco", "inner_steps": 2, "pattern": "presend"},
           {"name": "diloco", "inner_steps": 3}, {"name": "delayed-nesterov", "inner_steps": 2},
           {"name": "diloco", "inner_steps": 2, "codec": "int4", "error_feedback": "classic"}])")) {
    const Json scenario = changed(small_scenario(method, 9), {{"train", {{"checkpoint_every", 4}}}});
    // Calls of the back-end to step 5: one a step, and more where exchanges go through the host.
    const int calls = method["name"] == "delayed-nesterov" || method.contains("codec") ? 12 : 8;
    const auto left_with = [&](OuterState state, bool stops = false) {
      const CaseInFolder in(scenario);
      const auto train_until = [&](int stop, bool resume) {
        return train_with(in.config, in.folder, Device::kCuda,
                          make_stacked_backend(std::make_unique<Stops>(stop)), resume, {}, state);
      };
      if (stops) {
        EXPECT_THROW(train_until(calls, false), std::runtime_error) << method.dump();
        EXPECT_GE(checkpoint_steps(in.folder.file("out/checkpoints")).front(), 4) << method.dump();
      }
      const Trained trained = train_until(1000, stops);
      EXPECT_EQ(trained.summary["outer_state"], state == OuterState::kHost ? "host" : "card");
      return trained.metrics + trained.exchanges;
    };
    const std::string card = left_with(OuterState::kCard);
    EXPECT_EQ(left_with(OuterState::kHost), card) << method.dump();
    EXPECT_EQ(left_with(OuterState::kHost, true), card) << method.dump() << ", resumed";
  }
}

// A card that is smaller is used in smaller pieces: other sums, hardly other losses.
TEST(CardMemory, ALittleIsEnoughInPieces) {
  const Json scenario = changed(small_scenario(kNoloco, 1), {{"train", {{"evaluate_every", 1}}}});
  const auto train_in = [&](std::size_t memory) {
    const emulated::MemoryOf all(memory);
    return stacked_on_gpu(scenario);
  };
  const auto least = static_cast<std::size_t>(least_memory(scenario));
  const Trained small = train_in(least), large = train_in(std::size_t{1} << 32);
  EXPECT_EQ(small.summary["sequences_at_once"], 1);
  EXPECT_EQ(small.summary["replicas_at_once"], 1);
  EXPECT_EQ(large.summary["sequences_at_once"], 2);
  EXPECT_EQ(large.summary["replicas_at_once"], 4);
  expect_losses(small, large, 1e-5, "in pieces");
}

TEST(CardMemory, FullInTheMiddleOfARunIsSaidInWords) {
  emulated::fills_at_next_run = true;
  const std::string words = said_by([] { stacked_on_gpu(small_scenario(kNoloco, 4)); });
  EXPECT_SAYS(words, "6 tables of 4 replicas");
  EXPECT_SAYS(words, "tried to allocate 1.00 GiB");
}

constexpr std::size_t kRow = 16 * 16 * 2 + 2 * (4 * 16 * 16 + 3 * 16 * 24 + 2 * 16) + 16;  // parameters

// Of twelve steps; a checkpoint has rows.
std::size_t copied_by(const Json& method, int evaluate_every, int checkpoint_every = 12) {
  const Json train = {{"evaluate_every", evaluate_every}, {"checkpoint_every", checkpoint_every}};
  const std::size_t before = emulated::copied_to_host;
  stacked_on_gpu(changed(small_scenario(method, 12), {{"train", train}}));
  return emulated::copied_to_host - before;
}

TEST(CardEvaluation, BringsNoRowsToTheHost) {
  for (const Json& method : {Json{{"name", "noloco"}, {"inner_steps", 3}}, Json{{"name", "ddp"}}}) {
    const std::size_t number = copied_by(method, 12), twelve = copied_by(method, 1);
    EXPECT_GT(number, 4 * kRow * sizeof(float)) << "the last checkpoint has the weights of four replicas";
    EXPECT_GT(twelve, number);
    EXPECT_LT(twelve - number, kRow * sizeof(float)) << method.dump();
  }
}

// φ that is sent ahead waits on the card; a checkpoint fetches it.
TEST(CardAnchors, StayThereBetweenCheckpoints) {
  const auto copied = [](const char* pattern, int checkpoint_every) {
    return copied_by({{"name", "noloco"}, {"inner_steps", 2}, {"pattern", pattern}}, 12, checkpoint_every);
  };
  EXPECT_EQ(copied("presend", 12), copied("exchange", 12));
  EXPECT_EQ(copied("presend", 6), copied("exchange", 6) + 4 * kRow * 2) << "of four replicas, in bf16";
}

}  // namespace longhaul::memory_test
