// What the host works out for the AdamW kernel, in double, as updates/adamw.cc does for its own loop.
#include <cmath>

#include "trainer/cuda/device_optimizer.h"

namespace longhaul {

std::vector<std::uint32_t> decay_bits(const std::vector<DecayRange>& ranges, std::int64_t columns) {
  std::vector<std::uint32_t> bits(static_cast<std::size_t>((columns + 31) / 32));
  for (const DecayRange& range : ranges)
    for (std::int64_t i = range.begin; i < range.end && range.decays; ++i)
      bits[static_cast<std::size_t>(i / 32)] |= std::uint32_t{1} << i % 32;
  return bits;
}

StepScalars step_scalars(const OptimizerSpec& spec, double lr, int step) {
  return {static_cast<float>(lr / (1 - std::pow(spec.beta1, step))),
          static_cast<float>(1 - lr * spec.weight_decay),
          static_cast<float>(1 / (1 - std::pow(spec.beta2, step)))};
}

AdamwConstants adamw_constants(const OptimizerSpec& spec) {
  return {static_cast<float>(spec.beta1), static_cast<float>(1 - spec.beta1), static_cast<float>(spec.beta2),
          static_cast<float>(1 - spec.beta2), static_cast<float>(kAdamEpsilon)};
}

}  // namespace longhaul
