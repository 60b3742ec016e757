// Whole trainings whose boundaries have learned bits.
#include <cmath>
#include <map>
#include <set>

#include "tests/unit/trainer/compared_trainings.h"
#include "trainer/data/dataset.h"

namespace longhaul::learned_bits_test {

const Json kNoloco = {{"name", "noloco"}, {"inner_steps", 3}};

// Three stages of one layer, so two hops; four replicas.
Json scenario_with(const Json& learned_bits, int steps = 9, const Json& method = kNoloco) {
  Json pipeline = {{"stages", 3}, {"microbatches", 2}, {"activations", "learned"}, {"block", 100}};
  pipeline["learned_bits"] = learned_bits;
  const Json train = {{"batch", 4}, {"model", {{"layers", 3}}}};
  return changed(small_scenario(method, steps, "fp32"), {{"train", train}, {"pipeline", pipeline}});
}

struct BitsRow {
  int bits;
  double gate;
};
using Bits = std::map<std::tuple<int, int, int>, BitsRow>;  // by step, replica and hop

// Those of a training.
Bits bits_of(const Json& scenario, int threads = 1) {
  const TemporaryFolder folder;
  train(only_case(scenario, folder), folder, threads);
  const CsvTable table = read_csv(folder.file("out/boundary_bits.csv"));
  EXPECT_EQ(table.header, (std::vector<std::string>{"step", "replica", "hop", "bits", "gate"}));
  Bits bits;
  for (const auto& row : table.rows)
    bits[{std::stoi(row[0]), std::stoi(row[1]), std::stoi(row[2])}] = {std::stoi(row[3]), std::stod(row[4])};
  EXPECT_EQ(bits.size(), table.rows.size());
  return bits;
}

// A gate at 0 is 5 of 2 to 8 bits.
TEST(LearnedBits, FrozenGatesAreGivenBitsToTheBit) {
  for (const Json& method : {kNoloco, Json{{"name", "ddp"}}, Json{{"name", "co2"}, {"inner_steps", 3}}}) {
    const Json in_int5 = {{"learned_bits", nullptr}, {"activations", "int5"}};
    Json learned = scenario_with({{"lr", 0}, {"penalty", 5}, {"gate", 0}}, 9, method),
         given = changed(learned, {{"pipeline", in_int5}});
    const Trained expected = train(given);
    EXPECT_EQ(train(learned).metrics, expected.metrics) << method;
    EXPECT_EQ(train(learned, 3).metrics, expected.metrics) << method;
    for (Json* entry : {&learned, &given}) (*entry)["pipeline"]["gradients"] = {"int8", "wire"};
    EXPECT_EQ(train(learned).metrics, train(given).metrics) << method;
    EXPECT_NE(train(learned).metrics, expected.metrics);
  }
}

TEST(LearnedBits, ALargePenaltyPressesThemToTheFloor) {
  const Json pressed = {{"penalty", 1000}, {"lr", 0.5}, {"floor", 3}, {"ceiling", 7}, {"first_step", 4}};
  const Bits bits = bits_of(scenario_with(pressed, 30));
  std::set<int> seen;
  for (int replica = 0; replica < 4; ++replica)
    for (int hop = 0; hop < 2; ++hop) {
      for (int step = 1; step <= 4; ++step) EXPECT_EQ(bits.at({step, replica, hop}).gate, 2.5);
      EXPECT_EQ(bits.at({1, replica, hop}).bits, 7) << "6.70";
      EXPECT_EQ(bits.at({30, replica, hop}).bits, 3);
      for (int step = 2; step <= 30; ++step) {
        EXPECT_LE(bits.at({step, replica, hop}).bits, bits.at({step - 1, replica, hop}).bits);
        seen.insert(bits.at({step, replica, hop}).bits);
      }
    }
  EXPECT_EQ(seen, (std::set<int>{3, 4, 5, 6, 7}));
}

// The gates after the first step, from the decoder and the definition: Adam's first step is g/(|g| + 1e-8).
TEST(LearnedBits, TheFirstStepOfEachGateIsTheSignOfItsGradient) {
  const double lr = 0.125, penalty = 0.02;
  const Json scenario = scenario_with({{"penalty", penalty}, {"lr", lr}, {"gate", -1.5}});
  const Case config = case_of(scenario);
  const Bits bits = bits_of(scenario, 2);
  const Dataset data = load_dataset(config);
  const Decoder decoder(config.train->model, Device::kCpu);
  const Quantized int3{Quantizer::kInt3, 100};  // 2 + 6 σ(−1.5) = 3.09
  const Boundaries boundaries{{1, 2}, int3, int3};
  const std::vector<float> weights = initial_weights(config.train->model, config.seed);
  std::vector<float> gradient(weights.size());
  const double open = 1 / (1 + std::exp(1.5)), kappa = 4 * std::log(2.) / 3;
  std::set<bool> signs;
  for (int replica = 0; replica < 4; ++replica) {
    const Batch all = training_batch(data.training, *config.train, config.seed, replica, 1);
    std::vector<double> mean(2);
    for (int m = 0; m < 2; ++m) {
      RoundingEffects rounding;
      decoder.loss_and_gradient(weights.data(), gradient.data(), microbatch_of(all, m, 2), boundaries,
                                &rounding);
      for (std::size_t hop = 0; hop < 2; ++hop) mean[hop] += rounding[hop] / 2;
    }
    for (int hop = 0; hop < 2; ++hop) {
      const double g = (-kappa * mean[as_index(hop)] * 6 + penalty / 2 * 2 * open) * open * (1 - open);
      EXPECT_EQ(bits.at({1, replica, hop}).bits, 3);
      EXPECT_NEAR(bits.at({2, replica, hop}).gate, -1.5 - lr * g / (std::abs(g) + 1e-8), 1e-5)
          << replica << hop;
      signs.insert(g > 0);
    }
  }
  EXPECT_EQ(signs.size(), 2u) << "else any rule would do";
}

TEST(LearnedBits, AreEvaluatedWithTheBitsOfEachReplica) {
  Json scenario = scenario_with({{"penalty", 0.02}, {"lr", 0.3}, {"gate", 0}}, 10);
  scenario["train"]["evaluate_ensemble"] = true;
  const auto& [folder, config] = CaseInFolder(scenario);
  const Trained trained = train(config, folder);
  const StoredTensors tensors = read_safetensors(folder.file("out/checkpoints/step-10.safetensors"));
  EXPECT_EQ(tensors.at("bit_gates").shape, (std::vector<std::int64_t>{4, 2}));
  const std::vector<float> gates = floats_of(tensors.at("bit_gates"));
  const std::vector<Batch> batches = validation_batches(load_dataset(config).validation, *config.train);
  ASSERT_EQ(batches.size(), 1u);
  const Decoder decoder(config.train->model, Device::kCpu);
  double sum = 0;
  std::set<std::pair<int, int>> used;
  for (std::size_t r = 0; r < 4; ++r) {
    const auto bits = [&](std::size_t hop) {
      return static_cast<int>(std::nearbyint(2 + 6 / (1 + std::exp(-double{gates[2 * r + hop]}))));
    };
    used.insert({bits(0), bits(1)});
    const HopFormats formats(
        {Quantized{whole_quantizer(bits(0)), 100}, Quantized{whole_quantizer(bits(1)), 100}});
    sum += decoder.loss(trained.weights[r].data(), batches[0], Boundaries{{1, 2}, formats, std::nullopt});
  }
  EXPECT_GT(used.size(), 1u) << "replicas' own";
  EXPECT_NEAR(trained.summary["final_loss"], sum / 4, 1e-6);
  EXPECT_LT(trained.summary["final_loss_of_ensemble"].get<double>(), sum / 4 + 1e-6);
}

// Where there is one part there is no hop, and no gate.
TEST(LearnedBits, OneStageIsTheWholeModel) {
  Json learned = scenario_with(Json::object()), plain = learned;
  learned["pipeline"]["stages"] = 1;
  plain["pipeline"] = {{"stages", 1}, {"microbatches", 2}};
  const TemporaryFolder folder;
  EXPECT_EQ(train(only_case(learned, folder), folder).metrics, train(plain).metrics);
  EXPECT_FALSE(std::filesystem::exists(folder.file("out/boundary_bits.csv")));
}

TEST(LearnedBits, AreInTheKey) {
  const auto key = [](const Json& bits) { return training_key(case_of(scenario_with(bits))); };
  EXPECT_EQ(key(Json::object()), key({{"floor", 2}, {"penalty", 0.01}}));
  EXPECT_NE(key(Json::object()), key({{"penalty", 0.02}}));
}

}  // namespace longhaul::learned_bits_test
