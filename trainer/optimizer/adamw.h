// AdamW (Loshchilov and Hutter, arXiv 1711.05101): Adam with bias correction and decoupled weight decay, one
// pass over the rows. Clipping is a factor on the gradient, so that it costs no pass of its own.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/case.h"
#include "trainer/device/host_device.h"

namespace longhaul {

constexpr double kAdamEpsilon = 1e-8;

// Columns [begin, end) of a row that decay alike: matrices do, norms do not.
struct DecayRange {
  std::int64_t begin = 0, end = 0;
  bool decays = false;
};

// A bit for each column that decays, 32 a word.
std::vector<std::uint32_t> decay_bits(const std::vector<DecayRange>& ranges, std::int64_t columns);

// Does not change.
struct AdamwConstants {
  float beta1, rest1, beta2, rest2, epsilon;
};
AdamwConstants adamw_constants(const OptimizerSpec& spec);

// Of a step, worked out in double: rate = lr/(1 − β1^t), keep = 1 − lr · decay, correction2 = 1/(1 − β2^t).
struct StepScalars {
  float rate, keep, correction2;
};
StepScalars step_scalars(const OptimizerSpec& spec, double lr, int step);

// One column, on the host and on a GPU. With g the clipped gradient, at step t = 1, 2, …:
//   m ← β1 m + (1 − β1) g;  v ← β2 v + (1 − β2) g²
//   θ ← θ − lr · decay · θ − lr · m/(1 − β1^t) / (sqrt(v/(1 − β2^t)) + 1e-8)
// `keep` is 1 where the column does not decay.
LONGHAUL_HOST_DEVICE LONGHAUL_ALWAYS_INLINE void adamw_column(const AdamwConstants& constants,
                                                              const StepScalars& step, float keep, float g,
                                                              float& weight, float& first, float& second) {
  first = constants.beta1 * first + constants.rest1 * g;
  second = constants.beta2 * second + constants.rest2 * (g * g);
  weight = keep * weight - step.rate * first / (sqrtf(second * step.correction2) + constants.epsilon);
}

struct AdamwRows {
  float* weights;
  const float* gradient;
  float* first_moment;
  float* second_moment;
};

// One replica's rows; `scale` clips.
void adamw_step(const OptimizerSpec& spec, double lr, int step, double scale,
                const std::vector<DecayRange>& ranges, const AdamwRows& rows);

}  // namespace longhaul
