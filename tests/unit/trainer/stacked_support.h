// Replicas with random weights and data, for tests that hold the stacked decoder against others.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/base/random.h"
#include "trainer/model/decoder.h"
#include "trainer/model/stacked_decoder.h"

namespace longhaul::testing_stacked {

struct Result {
  std::vector<double> losses;
  std::vector<float> gradients;  // [replicas, P]
};

struct Replicas {
  // Weights normal(0, deviation), about 1 in the norms, so that every part of the model matters.
  Replicas(const ModelShape& of, int count, int batch_size, double deviation)
      : shape(of), replicas(count), sequences(batch_size) {
    RandomStream stream(7, Purpose::kInitialWeights, 1);
    weights.resize(static_cast<std::size_t>(count * shape.parameters()));
    for (float& weight : weights) weight = static_cast<float>(deviation * stream.normal());
    for (int r = 0; r < count; ++r)
      for (const Parameter& parameter : parameter_layout(shape))
        for (std::int64_t i = 0; parameter.is_norm && i < parameter.size(); ++i)
          weights[static_cast<std::size_t>(r * shape.parameters() + parameter.offset + i)] += 1;
    RandomStream data(5, Purpose::kTrainingData);
    for (std::int64_t i = 0; i < count * token_stride(); ++i)
      tokens.push_back(static_cast<std::int64_t>(data.below(static_cast<std::uint64_t>(shape.vocabulary))));
  }

  std::int64_t token_stride() const { return std::int64_t{sequences} * (shape.context + 1); }
  const float* row(int r) const { return weights.data() + r * shape.parameters(); }
  Batch batch(int r) const {
    const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(r * token_stride());
    return {sequences, {begin, begin + static_cast<std::ptrdiff_t>(token_stride())}};
  }

  Result one_by_one() const { return one_by_one(Decoder(shape, Device::kCpu)); }
  template <typename Of>
  Result one_by_one(const Of& decoder) const {
    Result result{std::vector<double>(static_cast<std::size_t>(replicas)),
                  std::vector<float>(weights.size())};
    for (int r = 0; r < replicas; ++r)
      result.losses[static_cast<std::size_t>(r)] =
          decoder.loss_and_gradient(row(r), result.gradients.data() + r * shape.parameters(), batch(r));
    return result;
  }

  ModelShape shape;
  int replicas, sequences;
  std::vector<float> weights;
  std::vector<std::int64_t> tokens;  // [replicas, sequences, context + 1]
};

// On a CPU.
inline Result run(const StackedDecoder& decoder, const Replicas& replicas) {
  Result result{std::vector<double>(static_cast<std::size_t>(replicas.replicas)),
                std::vector<float>(replicas.weights.size(), 123.f)};  // what was there must not matter
  decoder.run({replicas.weights.data(), result.gradients.data(), replicas.tokens.data(),
               replicas.token_stride(), result.losses.data(), replicas.replicas, replicas.sequences});
  return result;
}

// |a − b| / |b| of one replica's gradient.
inline double relative_difference(const Result& a, const Result& b, const Replicas& replicas, int r) {
  double difference = 0, size = 0;
  const std::int64_t p = replicas.shape.parameters();
  for (std::int64_t i = r * p; i < (r + 1) * p; ++i) {
    const auto at = static_cast<std::size_t>(i);
    difference += std::pow(static_cast<double>(a.gradients[at]) - b.gradients[at], 2);
    size += std::pow(static_cast<double>(b.gradients[at]), 2);
  }
  return std::sqrt(difference / size);
}

// Of each replica the loss and the gradient, relative.
inline void expect_near(const Result& found, const Result& expected, const Replicas& replicas, double loss,
                        double gradient) {
  for (int r = 0; r < replicas.replicas; ++r) {
    const auto at = static_cast<std::size_t>(r);
    EXPECT_NEAR(found.losses[at], expected.losses[at], loss * expected.losses[at]) << "replica " << r;
    EXPECT_LT(relative_difference(found, expected, replicas, r), gradient) << "replica " << r;
  }
}

inline void expect_same_bits(const Result& found, const Result& expected) {
  EXPECT_EQ(found.losses, expected.losses);
  EXPECT_EQ(found.gradients, expected.gradients);
}

// Of gradients in bf16, relative: some ten times what rounded numbers leave in a sum (measured: 6e-3).
// Without AVX-512 LibTorch rounds parts of the sums too (measured: 2e-2 to 4e-2).
inline double bf16_gradient_bound() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx512bw")) return 6e-2;
#endif
  return 2e-2;
}

}  // namespace longhaul::testing_stacked
