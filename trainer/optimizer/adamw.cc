#include "trainer/optimizer/adamw.h"

#include "core/index.h"
#include "trainer/replicas/vectorized.h"

namespace longhaul {
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
