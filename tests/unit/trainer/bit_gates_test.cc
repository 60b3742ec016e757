// Gates of learned bits: by hand, and against finite differences of a loss whose rounding errors are fixed
// shares of the step size, which is what LSQ's gradient stands for.
#include "trainer/pipeline/bit_gates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "tests/unit/trainer/float64/slope.h"

namespace longhaul::bit_gates_test {

LearnedBits spec_of(int floor, int ceiling, double penalty, double lr = 0.1, double gate = 0) {
  return {floor, ceiling, penalty, lr, gate, 1, 5, false};
}

TEST(BitGates, BitsByHand) {
  EXPECT_DOUBLE_EQ(learned_bits(spec_of(2, 8, 0), 0), 5);
  EXPECT_NEAR(learned_bits(spec_of(2, 8, 0), std::log(2.)), 6, 1e-12);
  EXPECT_NEAR(learned_bits(spec_of(2, 8, 0), -std::log(5.)), 3, 1e-12);
  // 7.54, 7.70 and 7.40; 4.5 goes to the even one.
  const std::tuple<int, int, double, int> used[] = {{2, 8, 2.5, 8}, {4, 8, 2.5, 8}, {2, 8, 2.2, 7},
                                                    {2, 7, 0, 4},   {3, 6, 0, 4},   {2, 8, -20, 2},
                                                    {2, 8, 20, 8},  {6, 6, -3, 6}};
  for (const auto& [floor, ceiling, gate, bits] : used)
    EXPECT_EQ(used_bits(spec_of(floor, ceiling, 0), gate), bits) << gate;
}

// A loss of what is read.
double loss_of(const std::vector<double>& read) {
  double loss = 0;
  for (std::size_t i = 0; i < read.size(); ++i)
    loss += std::sin(1. + static_cast<double>(i)) * read[i] + 0.2 * read[i] * read[i] * read[i];
  return loss;
}

// Two blocks of 5 and a shorter one, and gates whose b are whole.
TEST(BitGates, GradientIsThatOfALossWhoseRoundingsAreFixed) {
  const std::vector<double> sent = {0.9, -0.31, 0.52, -1.37, 0.05, 2.6, 1.1, -0.7, 0.33, -2.2, 0.41, -0.19};
  const std::size_t block = 5;
  EXPECT_NEAR(gate_gradient(spec_of(5, 5, 0.8), 0, 0.3, 2), 0.1, 1e-15)
      << "without bits to choose from it is the penalty's, 0.8/2 · 2 · 1/2 · 1/4";
  for (const auto& [bits, gate] :
       {std::pair{4, -std::log(2.)}, {5, 0.}, {6, std::log(2.)}, {3, -std::log(5.)}}) {
    const LearnedBits spec = spec_of(2, 8, 0.7);
    ASSERT_EQ(used_bits(spec, gate), bits);
    std::vector<double> read(sent.begin(), sent.end());
    requantize(*spec.format_of(bits), read.data(), static_cast<std::int64_t>(read.size()));
    double rounding = 0;
    for (std::size_t i = 0; i < sent.size(); ++i)
      rounding += slope(read[i], [&] { return loss_of(read); }) * (read[i] - sent[i]);

    const auto step_of = [&](std::size_t i, double b) {
      const std::size_t begin = i / block * block, end = std::min(begin + block, sent.size());
      double largest = 0;
      for (std::size_t k = begin; k < end; ++k) largest = std::max(largest, std::abs(sent[k]));
      return largest / (std::exp2(b - 1) - 1);
    };
    double q = gate;
    const auto whole_loss = [&] {
      const double open = 1 / (1 + std::exp(-q)), b = 2 + 6 * open;
      std::vector<double> moved = sent;
      for (std::size_t i = 0; i < sent.size(); ++i)
        moved[i] += (read[i] - sent[i]) / step_of(i, bits) * step_of(i, b);
      return loss_of(moved) + 0.7 / 3 * open * open;
    };
    const double expected = slope(q, whole_loss);
    const double open = 1 / (1 + std::exp(-gate)), of_penalty = 0.7 / 3 * 2 * open * open * (1 - open);
    EXPECT_GT(std::abs(expected - of_penalty), 1e-3) << "else the task would not matter";
    EXPECT_NEAR(gate_gradient(spec, gate, rounding, 3), expected, 1e-6) << bits;
  }
}

const Boundaries kTwoHops{{1, 2}, {}, Quantized{Quantizer::kSign, 7}};

// Adam's first step is its learning rate, against the sign of the gradient.
TEST(BitGates, EachReplicaMovesItsOwnFromTheFirstStepOn) {
  LearnedBits spec = spec_of(2, 8, 0, 0.25, 1);
  spec.first_step = 3;
  BitGates gates(spec, kTwoHops, 2);
  EXPECT_EQ(gates.hops(), 2);
  for (const int step : {1, 2}) gates.step(step, 1, {0.5, -0.5});
  EXPECT_EQ(gates.gates(1)[0], 1);
  gates.step(3, 1, {0.5, -0.5});
  EXPECT_NEAR(gates.gates(1)[0], 1.25, 1e-6) << "rounding makes the loss higher: more bits";
  EXPECT_NEAR(gates.gates(1)[1], 0.75, 1e-6);
  EXPECT_EQ(gates.gates(0)[0], 1);
  EXPECT_EQ(gates.gates(0)[1], 1);
  const std::vector<float> before(gates.gates(1), gates.gates(1) + 2);
  gates.step(4, 1, {std::numeric_limits<double>::quiet_NaN(), 1});
  EXPECT_EQ(std::vector<float>(gates.gates(1), gates.gates(1) + 2), before);
}

// By hand: g of the second step is that at the gate after the first.
TEST(BitGates, TheSecondStepIsAdams) {
  const LearnedBits spec = spec_of(2, 8, 0.6, 0.5, 0);
  BitGates gates(spec, kTwoHops, 1);
  double q = 0, m = 0, v = 0;
  for (int step = 1; step <= 2; ++step) {
    const double open = 1 / (1 + std::exp(-q)), b = std::nearbyint(2 + 6 * open);
    const double kappa = std::exp2(b - 1) * std::log(2.) / (std::exp2(b - 1) - 1);
    const double g = (-kappa * 0.01 * step * 6 + 0.6 / 2 * 2 * open) * open * (1 - open);
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    q -= 0.5 * m / (1 - std::pow(0.9, step)) / (std::sqrt(v / (1 - std::pow(0.999, step))) + 1e-8);
    gates.step(step, 0, {0.01 * step, 0});
  }
  EXPECT_NEAR(gates.gates(0)[0], q, 1e-5);
  EXPECT_LT(q, -0.5);
}

TEST(BitGates, BoundariesHaveTheBitsInUse) {
  LearnedBits spec = spec_of(2, 8, 1, 0.9);
  BitGates gates(spec, kTwoHops, 2);
  EXPECT_EQ(gates.bits(0), (std::vector<int>{5, 5}));
  gates.step(1, 0, {0, -1});  // both fall by 0.9: b = 3.73
  EXPECT_EQ(gates.bits(0), (std::vector<int>{4, 4}));
  gates.step(1, 1, {1, 1});  // both rise: 6.27
  EXPECT_EQ(gates.bits(1), (std::vector<int>{6, 6}));
  EXPECT_EQ(gates.boundaries(0).activations.at(1), (Quantized{Quantizer::kInt4, 5}));
  EXPECT_EQ(gates.boundaries(1).activations.at(0), (Quantized{Quantizer::kInt6, 5}));
  EXPECT_EQ(gates.boundaries(1).gradients.at(0), (Quantized{Quantizer::kSign, 7})) << "a format of its own";
  EXPECT_EQ(gates.boundaries_of_mean().activations.at(0), (Quantized{Quantizer::kInt5, 5}));
  EXPECT_EQ(gates.boundaries(0).before, kTwoHops.before);
  spec.gradients = true;
  const BitGates both(spec, kTwoHops, 1);
  EXPECT_EQ(both.boundaries(0).gradients.at(1), (Quantized{Quantizer::kInt5, 5}));
}

}  // namespace longhaul::bit_gates_test
