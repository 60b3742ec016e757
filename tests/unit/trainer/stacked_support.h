// Replicas with random weights and data, for tests that hold the stacked decoder against others.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/trainer/random_model.h"
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
    for (int r = 0; r < count; ++r)
      for (const Parameter& part : parameter_layout(shape))
        for (std::int64_t i = 0; i < part.size(); ++i)
          weights.push_back(static_cast<float>(deviation * stream.normal()) + (part.is_norm ? 1.f : 0.f));
    tokens = random_batch(shape, count * sequences).tokens;
  }

  std::int64_t token_stride() const { return std::int64_t{sequences} * (shape.context + 1); }
  const float* row(int r) const { return weights.data() + r * shape.parameters(); }
  Batch batch(int r) const {
    const auto begin = tokens.begin() + r * token_stride();
    return {sequences, {begin, begin + token_stride()}};
  }

  Result one_by_one() const { return one_by_one(Decoder(shape, Device::kCpu)); }
  template <typename Of>
  Result one_by_one(const Of& decoder) const {
    Result result{{}, std::vector<float>(weights.size())};
    for (int r = 0; r < replicas; ++r)
      result.losses.push_back(
          decoder.loss_and_gradient(row(r), result.gradients.data() + r * shape.parameters(), batch(r)));
    return result;
  }

  ModelShape shape;
  int replicas, sequences;
  std::vector<float> weights;
  std::vector<std::int64_t> tokens;  // [replicas, sequences, context + 1]
};

inline Result run(const StackedDecoder& decoder, const Replicas& replicas) {
  Result result{std::vector<double>(as_index(replicas.replicas)),
                std::vector<float>(replicas.weights.size(), 123.f)};  // what was there must not matter
  decoder.run({replicas.weights.data(), result.gradients.data(), replicas.tokens.data(),
               replicas.token_stride(), result.losses.data(), replicas.replicas, replicas.sequences});
  return result;
}

// |a − b| / |b| of one replica's gradient.
inline double relative_difference(const Result& a, const Result& b, const Replicas& replicas, int r) {
  double difference = 0, size = 0;
  const std::size_t p = as_index(replicas.shape.parameters());
  for (std::size_t i = as_index(r) * p; i < as_index(r + 1) * p; ++i) {
    difference += std::pow(double{a.gradients[i]} - b.gradients[i], 2);
    size += std::pow(b.gradients[i], 2);
  }
  return std::sqrt(difference / size);
}

// Of each replica the loss and the gradient, relative.
inline void expect_near(const Result& found, const Result& expected, const Replicas& replicas, double loss,
                        double gradient) {
  for (int r = 0; r < replicas.replicas; ++r) {
    const double exact = expected.losses[as_index(r)];
    EXPECT_NEAR(found.losses[as_index(r)], exact, loss * exact) << "replica " << r;
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
