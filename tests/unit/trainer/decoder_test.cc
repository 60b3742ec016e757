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
  const Batch batch = random_batch(kShape, 1);
  std::vector<std::vector<double>> sums(2, {0});  // by model, of the first t tokens
  for (int model = 0; model < 2; ++model) {
    const std::vector<float> weights = random_weights<float>(kShape, 6 + as_index(model));
    std::copy(weights.begin(), weights.end(), arena.row(Slot::kWeights, model));
    for (int t = 1; t <= kShape.context; ++t) {
      ModelShape prefix = kShape;
      prefix.context = t;
      sums[as_index(model)].push_back(t *
                                      ScalarDecoder(prefix, {weights.begin(), weights.end()})
                                          .loss({1, {batch.tokens.begin(), batch.tokens.begin() + t + 1}}));
    }
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
    const auto size = static_cast<double>(parameter.size());
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < parameter.size(); ++i) {
      const double value = row[as_index(parameter.offset + i)];
      sum += value, squares += value * value;
    }
    if (parameter.is_norm)
      EXPECT_EQ(sum, size) << parameter.name;
    else  // 0.02, and 0.02/sqrt(2·8) = 0.005 into the residual stream; five standard errors
      EXPECT_NEAR(std::sqrt(squares / size) / (parameter.writes_residual ? 0.005 : 0.02), 1,
                  5 / std::sqrt(2 * size))
          << parameter.name;
  }
}

}  // namespace longhaul::decoder_test
