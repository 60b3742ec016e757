// The kernels where the decoder's tests do not reach: extreme values, and memory of any alignment.
#include "trainer/model/kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "trainer/model/gemm.h"

namespace longhaul::kernels_test {

std::vector<float> random_values(std::size_t count, double deviation) {
  RandomStream stream(9, Purpose::kInitialWeights);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(deviation * stream.normal());
  return values;
}

TEST(Kernels, SwigluIsTheFormulaFromMinusToPlusNinety) {
  std::vector<float> gate_up, y(182);
  for (int gate = -90; gate <= 90; ++gate) gate_up.push_back(static_cast<float>(gate));
  gate_up.push_back(NAN);
  gate_up.insert(gate_up.end(), 182, 2.f);
  swiglu_forward({1, 182, 364, 182}, gate_up.data(), y.data());
  EXPECT_TRUE(std::isnan(y[181])) << "not a number stays one";
  for (int gate = -90; gate <= 90; ++gate) {
    const double exact = 2. * gate / (1 + std::exp(-static_cast<double>(gate)));
    EXPECT_NEAR(y[as_index(gate + 90)], exact, 1e-6 * std::abs(exact) + 1e-30) << gate;
  }
}

// What the backward pass computes again has the bits of the forward pass.
TEST(Kernels, OutputsComputedAgainAreTheSame) {
  constexpr std::int64_t kRows = 5, kWidth = 37;
  std::vector<float> x = random_values(kRows * kWidth, 2), w = random_values(kWidth, 1), y(x.size()),
                     again(x.size()), scale(kRows);
  rms_norm_forward(x.data(), w.data(), kRows, kWidth, 1e-5f, y.data(), scale.data());
  rms_norm_again(x.data(), w.data(), scale.data(), kRows, kWidth, again.data());
  EXPECT_EQ(again, y);
  const FeedForwardShape shape{kRows, kWidth, 80, 41};  // what is between the rows stays as it is
  std::vector<float> gate_up = random_values(kRows * 80, 3);
  y.assign(kRows * 41, 1);
  swiglu_forward(shape, gate_up.data(), y.data());
  EXPECT_EQ(y[37], 1);
  EXPECT_NEAR(y[41 + 5], gate_up[80 + 5] / (1 + std::exp(-gate_up[80 + 5])) * gate_up[80 + 37 + 5], 1e-5);
  again.assign(kRows * 41, 1);
  swiglu_backward(shape, again.data(), gate_up.data());
  EXPECT_EQ(again, y);
}

TEST(Kernels, CausalSoftmaxAddsUpToOneWhateverTheScores) {
  for (double deviation : {0.1, 10., 1000.}) {
    std::vector<float> scores = random_values(2 * 37 * 37, deviation);
    causal_softmax(2, 37, scores.data());
    for (std::size_t row = 0; row < 74; ++row) {
      double sum = 0;
      for (std::size_t i = 0; i < 37; ++i) {
        const float weight = scores[row * 37 + i];
        sum += weight;
        EXPECT_EQ(weight, i > row % 37 ? 0 : weight) << "row " << row << " sees " << i;
      }
      EXPECT_NEAR(sum, 1, 1e-5);
    }
  }
}

// Against sums in double, all ways of reading the operands, adding and not; to larger than a kernel's block.
TEST(Gemm, IsTheSumOfProducts) {
  constexpr std::int64_t kStride = 450;
  const std::vector<float> a = random_values(kStride * kStride, 1), b = random_values(kStride * kStride, 1);
  const auto at = [](const Operand& x, std::int64_t row, std::int64_t column) {
    return static_cast<double>(x.transposed ? x.data[column * x.stride + row]
                                            : x.data[row * x.stride + column]);
  };
  for (const auto& [m, n, k] :
       std::vector<std::array<std::int64_t, 3>>{{5, 7, 3}, {1, 33, 64}, {67, 130, 401}})
    for (const bool turn_a : {false, true})
      for (const bool turn_b : {false, true}) {
        const Operand operand{a.data(), kStride, turn_a}, other{b.data(), kStride, turn_b};
        std::vector<double> sums(as_index(m * kStride));
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t l = 0; l < k; ++l)
              sums[as_index(i * kStride + j)] += 0.5 * at(operand, i, l) * at(other, l, j);
        const std::vector<float> before = random_values(sums.size(), 1);
        for (const auto& product : {multiply, multiply_by_tensors})
          for (const float beta : {0.f, 1.f}) {
            std::vector<float> c = before;
            product(m, n, k, 0.5f, operand, other, beta, c.data(), kStride);
            for (std::size_t place = 0; place < c.size(); ++place) {
              const bool is_in_product = static_cast<std::int64_t>(place) % kStride < n;
              ASSERT_NEAR(c[place], is_in_product ? beta * before[place] + sums[place] : before[place],
                          1e-6 * static_cast<double>(k))
                  << turn_a << turn_b << beta << " at " << place;
            }
          }
      }
}

// A resumed training has its tables elsewhere in memory.
TEST(Kernels, TheSameBitsWhereverRowsAndMatricesLie) {
  constexpr std::int64_t kRows = 3, kWidth = 83, kM = 96, kN = 80, kK = 144;
  const std::vector<float> a = random_values(kM * kK, 1), b = random_values(kK * kN, 1);
  std::vector<float> first_normed, first_product;
  for (std::size_t shift = 0; shift < 17; ++shift) {
    const auto moved = [shift](const std::vector<float>& table) {
      std::vector<float> there(shift);
      there.insert(there.end(), table.begin(), table.end());
      return there;
    };
    const std::vector<float> a_there = moved(a), b_there = moved(b);
    std::vector<float> normed(shift + kRows * kWidth), scale(kRows), product(shift + kM * kN);
    rms_norm_forward(a_there.data() + shift, b.data(), kRows, kWidth, 1e-5f, normed.data() + shift,
                     scale.data());
    multiply(kM, kN, kK, 1, {a_there.data() + shift, kK}, {b_there.data() + shift, kN}, 0,
             product.data() + shift, kN);
    for (auto& [found, first] : {std::pair(&normed, &first_normed), {&product, &first_product}}) {
      found->erase(found->begin(), found->begin() + static_cast<std::ptrdiff_t>(shift));
      if (shift == 0) *first = *found;
      EXPECT_EQ(*found, *first) << shift;
    }
  }
}

}  // namespace longhaul::kernels_test
