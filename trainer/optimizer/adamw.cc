#include "trainer/optimizer/adamw.h"

#include <algorithm>
#include <cmath>

#include "core/base/index.h"
#include "trainer/replicas/vectorized.h"

namespace longhaul {

double learning_rate(const OptimizerSpec& spec, int step, int steps) {
  constexpr double kPi = 3.141592653589793;
  if (step <= spec.warmup) return spec.lr * step / spec.warmup;
  const double x = static_cast<double>(step - spec.warmup) / (steps - spec.warmup);
  return spec.min_lr + (spec.lr - spec.min_lr) * (1 + std::cos(kPi * x)) / 2;
}

namespace {

constexpr std::int64_t kBlock = 4096;
constexpr int kLanes = 32;  // independent sums, so that the loop vectorizes without reordering

LONGHAUL_VECTORIZED double sum_of_squares(const float* values, std::int64_t count) {
  float lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane] * values[i + lane];
  double sum = 0;
  for (; i < count; ++i) sum += static_cast<double>(values[i]) * values[i];
  for (float lane : lanes) sum += lane;
  return sum;
}

}  // namespace

double row_norm(const float* row, std::int64_t columns) {
  double sum = 0;
  for (std::int64_t begin = 0; begin < columns; begin += kBlock)
    sum += sum_of_squares(row + begin, std::min(kBlock, columns - begin));
  return std::sqrt(sum);
}

namespace {

LONGHAUL_VECTORIZED void update(const AdamwConstants constants, const StepScalars step, const float keep,
                                const float scale, std::int64_t count, float* __restrict weights,
                                const float* __restrict gradient, float* __restrict first,
                                float* __restrict second) {
  for (std::int64_t i = 0; i < count; ++i)
    adamw_column(constants, step, keep, scale * gradient[i], weights[i], first[i], second[i]);
}

}  // namespace

std::vector<std::uint32_t> decay_bits(const std::vector<DecayRange>& ranges, std::int64_t columns) {
  std::vector<std::uint32_t> bits(as_index((columns + 31) / 32));
  for (const DecayRange& range : ranges)
    for (std::int64_t i = range.begin; i < range.end && range.decays; ++i)
      bits[as_index(i / 32)] |= std::uint32_t{1} << i % 32;
  return bits;
}

std::vector<std::uint32_t> left_out_bits(const std::vector<DecayRange>& ranges, std::int64_t columns) {
  std::vector<DecayRange> all = ranges;
  std::int64_t covered = 0;
  for (DecayRange& range : all) {
    covered += range.end - range.begin;
    range.decays = true;
  }
  if (covered == columns) return {};
  std::vector<std::uint32_t> bits = decay_bits(all, columns);
  for (std::uint32_t& word : bits) word = ~word;
  return bits;
}

AdamwConstants adamw_constants(const OptimizerSpec& spec) {
  return {static_cast<float>(spec.beta1), static_cast<float>(1 - spec.beta1), static_cast<float>(spec.beta2),
          static_cast<float>(1 - spec.beta2), static_cast<float>(kAdamEpsilon)};
}

StepScalars step_scalars(const OptimizerSpec& spec, double lr, int step) {
  return {static_cast<float>(lr / (1 - std::pow(spec.beta1, step))),
          static_cast<float>(1 - lr * spec.weight_decay),
          static_cast<float>(1 / (1 - std::pow(spec.beta2, step)))};
}

void adamw_step(const OptimizerSpec& spec, double lr, int step, double scale,
                const std::vector<DecayRange>& ranges, const AdamwRows& rows) {
  const StepScalars scalars = step_scalars(spec, lr, step);
  for (const DecayRange& range : ranges)
    update(adamw_constants(spec), scalars, range.decays ? scalars.keep : 1, static_cast<float>(scale),
           range.end - range.begin, rows.weights + range.begin, rows.gradient + range.begin,
           rows.first_moment + range.begin, rows.second_moment + range.begin);
}

}  // namespace longhaul
