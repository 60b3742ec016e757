// AdamW (Loshchilov and Hutter, arXiv 1711.05101): Adam with bias correction and decoupled weight decay, one
// pass over the rows. Clipping is a factor on the gradient, so that it costs no pass of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "core/case.h"

namespace longhaul {

constexpr double kAdamEpsilon = 1e-8;

// Columns [begin, end) of a row that decay alike: matrices do, norms do not.
struct DecayRange {
  std::int64_t begin = 0, end = 0;
  bool decays = false;
};

struct AdamwRows {
  float* weights;
  const float* gradient;
  float* first_moment;
  float* second_moment;
};

// With g = scale · gradient, at step t = 1, 2, …:
//   m ← β1 m + (1 − β1) g;  v ← β2 v + (1 − β2) g²
//   θ ← θ − lr · decay · θ − lr · m/(1 − β1^t) / (sqrt(v/(1 − β2^t)) + 1e-8)
void adamw_step(const OptimizerSpec& spec, double lr, int step, double scale,
                const std::vector<DecayRange>& ranges, const AdamwRows& rows);

}  // namespace longhaul
