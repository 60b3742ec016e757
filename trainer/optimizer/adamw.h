// The inner learning rate: linear warm-up, then a cosine to min_lr at the last step (NoLoCo, section 4: to
// lr/10).
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/scenario/case.h"
#include "trainer/device/host_device.h"

namespace longhaul {

// Of step 1 … steps: lr·step/warmup up to step `warmup`, then min_lr + (lr − min_lr)(1 + cos πx)/2 with
// x = (step − warmup)/(steps − warmup).
double learning_rate(const OptimizerSpec& spec, int step, int steps);

// Gradient clipping by the norm of a replica's whole gradient.

// The Euclidean norm of a row; float32 products in blocks, the blocks summed in double.
double row_norm(const float* row, std::int64_t columns);

// What the gradient is multiplied with: 1, or largest/norm where the norm is above `largest`; largest 0:
// always 1. A norm that is not finite gives NaN, so that the step shows it.
LONGHAUL_HOST_DEVICE inline double clip_factor(double norm, double largest) {
  if (largest == 0 || norm <= largest) return 1;
  return norm < HUGE_VAL ? largest / norm : NAN;
}

// AdamW (Loshchilov and Hutter, arXiv 1711.05101): Adam with bias correction and decoupled weight decay, one
// pass over the rows. Clipping is a factor on the gradient, so that it costs no pass of its own.

constexpr double kAdamEpsilon = 1e-8;

// Columns [begin, end) of a row that decay alike: matrices do, norms do not.
struct DecayRange {
  std::int64_t begin = 0, end = 0;
  bool decays = false;
};

// A bit for each column that decays, 32 a word.
std::vector<std::uint32_t> decay_bits(const std::vector<DecayRange>& ranges, std::int64_t columns);
// Likewise for each column that is in none of the ranges; empty where there is no such column.
std::vector<std::uint32_t> left_out_bits(const std::vector<DecayRange>& ranges, std::int64_t columns);

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
