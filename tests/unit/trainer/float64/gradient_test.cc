// The decoder that trainings run on the CPU, its sources compiled in float64, against the scalar decoder and
// finite differences: whole, and of two parts with a quantized boundary, a plain int8.
#include <gtest/gtest.h>

#include "tests/unit/trainer/float64/slope.h"
#include "tests/unit/trainer/random_model.h"
#include "tests/unit/trainer/scalar_decoder.h"
#include "trainer/model/cpu_decoder.h"

namespace longhaul::gradient_test {

// The second one's context is longer than a block of queries. The differences agree to 9e-10; a factor of 1 +
// 1e-6 at one term of the backward pass fails.
TEST(Float64Decoder, LossIsTheScalarModelsAndTheGradientItsSlopesTo1e7) {
  for (const ModelShape& shape :
       {ModelShape{12, 2, 3, 10, 7, 11}, {4, 1, 2, 3, 70, 5}, {4, 1, 2, 256, 5, 5}}) {
    const float64::CpuDecoder decoder(shape);
    const Batch batch = random_batch(shape, 2);
    std::vector<double> weights = random_weights<double>(shape, 4), gradient(weights.size(), 123.);
    const double exact = ScalarDecoder(shape, weights).loss(batch);
    EXPECT_NEAR(decoder.loss_and_gradient(weights.data(), gradient.data(), batch), exact, 1e-13 * exact);
    EXPECT_NEAR(decoder.loss(weights.data(), batch), exact, 1e-13 * exact);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double expected = slope(weights[i], [&] { return decoder.loss(weights.data(), batch); });
      ASSERT_NEAR(gradient[i], expected, 1e-10 + 1e-7 * std::abs(expected)) << "parameter " << i;
    }
  }
}

constexpr ModelShape kShape{4, 3, 2, 3, 5, 5};
constexpr int kSequences = 2, kLayersBefore = 2;
constexpr std::size_t kBlock = 7;  // no divisor of a row, so that blocks go over rows and sequences

const Batch kBatch = random_batch(kShape, kSequences);
const std::vector<double> kWeights = random_weights<double>(kShape, 6);

using Stream = std::vector<double>;  // [sequences · context, hidden]

// Of each block the largest magnitude is 127.
Stream as_int8(const Stream& stream) {
  std::vector<float> values(stream.begin(), stream.end());
  for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, values.size());
    float largest = 0;
    for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, std::abs(values[i]));
    const float scale = largest / 127;
    for (std::size_t i = begin; i < end; ++i)
      values[i] = static_cast<float>(std::nearbyint(double{values[i]} / double{scale})) * scale;
  }
  return {values.begin(), values.end()};
}

const std::int64_t* tokens_of(int sequence) {
  return kBatch.tokens.data() + sequence * (kShape.context + 1);
}

Stream first_part(const std::vector<double>& weights) {
  const ScalarDecoder decoder(kShape, weights);
  Stream stream;
  for (int s = 0; s < kSequences; ++s)
    for (const ScalarDecoder::Vector& row :
         decoder.through_layers(decoder.embed(tokens_of(s)), 0, kLayersBefore))
      stream.insert(stream.end(), row.begin(), row.end());
  return stream;
}

double second_part(const std::vector<double>& weights, const Stream& stream) {
  const ScalarDecoder decoder(kShape, weights);
  auto at = stream.begin();
  double sum = 0;
  for (int s = 0; s < kSequences; ++s) {
    ScalarDecoder::Matrix x;
    for (int t = 0; t < kShape.context; ++t, at += kShape.hidden) x.emplace_back(at, at + kShape.hidden);
    sum += decoder.loss_at_the_end(decoder.through_layers(x, kLayersBefore, kShape.layers), tokens_of(s));
  }
  return sum / (kSequences * kShape.context);
}

// And by hop the sum of g (x̂ − x), which is asked for where bits are learned.
TEST(Float64Boundaries, LossAndGradientAreThoseOfTwoPartsAndAPlainInt8) {
  for (const auto& [quantizes_activations, quantizes_gradients] :
       {std::pair{true, true}, {true, false}, {false, true}}) {
    SCOPED_TRACE(2 * quantizes_activations + quantizes_gradients);
    const Quantized int8{Quantizer::kInt8, static_cast<int>(kBlock)};
    Boundaries boundaries{{kLayersBefore}, std::nullopt, std::nullopt};
    if (quantizes_activations) boundaries.activations = int8;
    if (quantizes_gradients) boundaries.gradients = int8;
    std::vector<double> weights = kWeights, found(weights.size(), 123.);
    const float64::CpuDecoder decoder(kShape, boundaries);
    const double loss = decoder.loss_and_gradient(weights.data(), found.data(), kBatch);

    RoundingEffects rounding = {1, 2, 3};
    std::vector<double> same(weights.size());
    const float64::CpuDecoder plain(kShape);
    EXPECT_EQ(plain.loss_and_gradient(weights.data(), same.data(), kBatch, boundaries, &rounding), loss);
    EXPECT_EQ(same, found) << "asking for it changes nothing";

    const Stream sent = first_part(weights);
    Stream stream = quantizes_activations ? as_int8(sent) : sent;
    EXPECT_NEAR(loss, second_part(weights, stream), 1e-13);
    EXPECT_EQ(decoder.loss(weights.data(), kBatch), loss);
    EXPECT_EQ(std::abs(loss - ScalarDecoder(kShape, weights).loss(kBatch)) > 1e-6, quantizes_activations);

    Stream back(stream.size());
    for (std::size_t i = 0; i < stream.size(); ++i)
      back[i] = slope(stream[i], [&] { return second_part(weights, stream); });
    if (quantizes_gradients) back = as_int8(back);
    double effect = 0;
    for (std::size_t i = 0; i < stream.size(); ++i) effect += back[i] * (stream[i] - sent[i]);
    ASSERT_EQ(rounding.size(), 1u);
    EXPECT_EQ(std::abs(effect) > 1e-6, quantizes_activations);
    EXPECT_NEAR(rounding[0], effect, 1e-6 * std::abs(effect));
    const std::int64_t cut = layer_columns(kShape)[kLayersBefore - 1].end;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double expected = slope(weights[i], [&] {
        if (static_cast<std::int64_t>(i) >= cut) return second_part(weights, stream);
        const Stream moved = first_part(weights);
        double sum = 0;
        for (std::size_t k = 0; k < moved.size(); ++k) sum += back[k] * moved[k];
        return sum;
      });
      ASSERT_NEAR(found[i], expected, 1e-9 + 1e-6 * std::abs(expected)) << "parameter " << i;
    }
  }
}

// It is quantized twice at one place, which changes nothing: the largest of a block is 7 steps once more.
TEST(Float64Boundaries, APartWithoutLayersIsPassedToo) {
  const Quantized int4{Quantizer::kInt4, 1024};
  const auto loss = [&](std::vector<int> before) {
    return float64::CpuDecoder(kShape, {std::move(before), int4, int4}).loss(kWeights.data(), kBatch);
  };
  EXPECT_NEAR(loss({1, 1}), loss({1}), 1e-6);
  for (const std::vector<int>& others : std::vector<std::vector<int>>{{0}, {3}, {1, 2}})
    EXPECT_GT(std::abs(loss(others) - loss({1})), 1e-4) << others[0];
}

// A hop without a format is no boundary.
TEST(Float64Boundaries, EachHopHasItsFormatOfAList) {
  const Quantized int3{Quantizer::kInt3, 64}, int8{Quantizer::kInt8, 16};
  const auto pass = [&](const Boundaries& boundaries) {
    std::vector<double> gradient(kWeights.size() + 1);
    gradient.back() =
        float64::CpuDecoder(kShape, boundaries).loss_and_gradient(kWeights.data(), gradient.data(), kBatch);
    return gradient;
  };
  const std::nullopt_t none = std::nullopt;
  EXPECT_EQ(pass({{1, 2}, HopFormats({int3, none}), none}), pass({{1}, int3, none}));
  EXPECT_EQ(pass({{1, 2}, HopFormats({none, int3}), none}), pass({{2}, int3, none}));
  EXPECT_EQ(pass({{1, 2}, none, HopFormats({int3, none})}), pass({{1}, none, int3}));
  EXPECT_EQ(pass({{1, 2}, none, HopFormats({none, int3})}), pass({{2}, none, int3}));
  EXPECT_EQ(pass({{1, 2}, HopFormats({int3, int3}), HopFormats({int8, int8})}), pass({{1, 2}, int3, int8}));
  EXPECT_NE(pass({{1, 2}, HopFormats({int3, int8}), none}), pass({{1, 2}, HopFormats({int8, int3}), none}));
  EXPECT_NE(pass({{1, 2}, none, HopFormats({int3, int8})}), pass({{1, 2}, none, HopFormats({int8, int3})}));
  // At one place the first of two hops comes first, and its gradient's last.
  EXPECT_NE(pass({{1, 1}, HopFormats({int3, int8}), none}), pass({{1, 1}, HopFormats({int8, int3}), none}));
  EXPECT_NE(pass({{1, 1}, none, HopFormats({int3, int8})}), pass({{1, 1}, none, HopFormats({int8, int3})}));
}

}  // namespace longhaul::gradient_test
