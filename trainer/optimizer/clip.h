// Gradient clipping by the norm of a replica's whole gradient.
#pragma once

#include <cmath>
#include <cstdint>

#include "trainer/device/host_device.h"

namespace longhaul {

// The Euclidean norm of a row; float32 products in blocks, the blocks summed in double.
double row_norm(const float* row, std::int64_t columns);

// What the gradient is multiplied with: 1, or largest/norm where the norm is above `largest`; largest 0:
// always 1. A norm that is not finite gives NaN, so that the step shows it.
LONGHAUL_HOST_DEVICE inline double clip_factor(double norm, double largest) {
  if (largest == 0 || norm <= largest) return 1;
  return norm < HUGE_VAL ? largest / norm : NAN;
}

}  // namespace longhaul
