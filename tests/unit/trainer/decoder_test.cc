#include "trainer/model/decoder.h"

#include <gtest/gtest.h>

#include "core/base/index.h"
#include "tests/unit/trainer/float64/slope.h"
#include "tests/unit/trainer/random_model.h"
#include "tests/unit/trainer/scalar_decoder.h"
#include "trainer/evaluation.h"
#include "trainer/replicas/arena.h"
#include "trainer/replicas/backend.h"

namespace longhaul::decoder_test {

constexpr ModelShape kShape{12, 2, 3, 10, 7, 11};

TEST(Decoder, LossAndGradientAreTheScalarModels) {
  const Decoder decoder(kShape, Device::kCpu);
  const Batch batch = random_batch(kShape, 2);
  const std::vector<float> weights = random_weights<float>(kShape, 4);
  std::vector<float> gradient(weights.size(), 123.f);  // what was there before must not matter
  const double loss = decoder.loss_and_gradient(weights.data(), gradient.data(), batch);
  EXPECT_NEAR(loss, decoder.loss(weights.data(), batch), 1e-6);

  std::vector<double> exact(weights.begin(), weights.end());
  const auto exact_loss = [&] { return ScalarDecoder(kShape, exact).loss(batch); };
  EXPECT_NEAR(loss, exact_loss(), 1e-5);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double expected = slope(exact[i], exact_loss);
    ASSERT_NEAR(gradient[i], expected, 2e-5 + 1e-4 * std::abs(expected)) << "parameter " << i;
  }
}

// At the sizes of a training, in two random directions whose numbers are 0.4 large: of a difference of 1e-5
// of the gradient's length 4e-6 are along them.
TEST(Decoder, LossAndItsSlopesAreTheScalarModelsAtTheSizesOfATraining) {
  const ModelShape shape{96, 3, 4, 512, 65, 256};
  const std::vector<float> weights = initial_weights(shape, 1);
  std::vector<float> gradient(weights.size());
  const Batch batch = random_batch(shape, 1);
  const double loss = Decoder(shape, Device::kCpu).loss_and_gradient(weights.data(), gradient.data(), batch);
  for (const std::uint64_t seed : {8, 9}) {
    const std::vector<double> direction = random_weights<double>(shape, seed);
    double moved = 0, along = 0, squares = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      along += direction[i] * double{gradient[i]};
      squares += std::pow(gradient[i], 2);
    }
    const auto loss_there = [&] {
      std::vector<double> there(weights.begin(), weights.end());
      for (std::size_t i = 0; i < there.size(); ++i) there[i] += moved * direction[i];
      return ScalarDecoder(shape, there).loss(batch);
    };
    EXPECT_NEAR(loss, loss_there(), 2e-6);
    EXPECT_NEAR(along, slope(moved, loss_there, 1e-5), 4e-6 * std::sqrt(squares)) << "direction " << seed;
  }
}

// The loss of token t is what the loss of the first t tokens is longer than that of the first t - 1; the
// ensemble's loss from the probabilities of both models, in double.
TEST(Evaluator, TheEnsemblesLossIsThatOfTheMeanProbability) {
  Arena arena({Slot::kWeights}, 2, kShape.parameters());
  std::vector<std::vector<float>> models = {random_weights<float>(kShape, 6),
                                            random_weights<float>(kShape, 7)};
  for (int r = 0; r < 2; ++r)
    std::copy(models[as_index(r)].begin(), models[as_index(r)].end(), arena.row(Slot::kWeights, r));
  const Batch batch = random_batch(kShape, 1);
  std::vector<std::vector<double>> sums(2, {0});  // by model, of the first t tokens
  for (std::size_t model = 0; model < 2; ++model)
    for (int t = 1; t <= kShape.context; ++t) {
      ModelShape prefix = kShape;
      prefix.context = t;
      const ScalarDecoder reference(prefix, {models[model].begin(), models[model].end()});
      sums[model].push_back(t * reference.loss({1, {batch.tokens.begin(), batch.tokens.begin() + t + 1}}));
    }
  double expected = 0;
  for (std::size_t t = 1; t <= as_index(kShape.context); ++t) {
    double probability = 0;
    for (const std::vector<double>& sum : sums) probability += std::exp(sum[t - 1] - sum[t]) / 2;
    expected -= std::log(probability) / kShape.context;
  }
  const Decoder decoder(kShape, Device::kCpu);
  const std::unique_ptr<Backend> backend = make_loop_backend();
  const Evaluator evaluator(decoder, {batch}, false, arena, *backend);
  EXPECT_NEAR(evaluator.ensemble_loss(kShape, {0, 1}), expected, 2e-6);
  EXPECT_LT(expected, (sums[0].back() + sums[1].back()) / 2 / kShape.context);
}

TEST(InitialWeights, AreNormalWithTheDeviationOfTheirPart) {
  const ModelShape shape{64, 8, 4, 128, 16, 256};
  const std::vector<float> row = initial_weights(shape, 3);
  EXPECT_EQ(row, initial_weights(shape, 3));
  EXPECT_NE(row, initial_weights(shape, 4));
  for (const Parameter& parameter : parameter_layout(shape)) {
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < parameter.size(); ++i) {
      const double value = row[static_cast<std::size_t>(parameter.offset + i)];
      sum += value;
      squares += value * value;
    }
    const double deviation = std::sqrt(squares / static_cast<double>(parameter.size()));
    if (parameter.is_norm)
      EXPECT_EQ(sum, static_cast<double>(parameter.size())) << parameter.name;
    else  // 0.02, and 0.02/sqrt(2·8) = 0.005 into the residual stream; five standard errors
      EXPECT_NEAR(deviation / (parameter.writes_residual ? 0.005 : 0.02), 1,
                  5 / std::sqrt(2. * static_cast<double>(parameter.size())))
          << parameter.name;
  }
}

}  // namespace longhaul::decoder_test
