// Matrices of low rank by power iteration (core/codecs/low_rank.h has the equation and what travels). The
// products are sums over whole matrices in an order of their own, so that the bits are the same on every
// machine, and on a GPU.
//
// The start is Mᵀ Ω, Ω [m, rank] standard normal numbers of a fixed stream, so that nobody has to keep or
// send it. PowerSGD starts from the last step's Q. A start without M would send the same P for ever where M
// stays as it is: what error feedback adds is at right angles to it. A direction in which nothing is left of
// the matrix is zero.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/codecs/low_rank.h"
#include "trainer/codecs/pieces.h"
#include "trainer/device/host_device.h"

namespace longhaul {

// Eight sums side by side, which a vector unit takes at once, in an order that depends on the length alone.
LONGHAUL_HOST_DEVICE inline float dot_in_lanes(const float* a, const float* b, std::int64_t length) {
  constexpr std::int64_t kLanes = 8;
  float sums[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= length; i += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  float sum = 0;
  for (std::int64_t lane = 0; lane < kLanes; ++lane) sum += sums[lane];
  for (; i < length; ++i) sum += a[i] * b[i];
  return sum;
}

LONGHAUL_HOST_DEVICE inline double dot_in_double(const float* a, const float* b, std::int64_t length) {
  double sum = 0;
  for (std::int64_t i = 0; i < length; ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

// directions [count, length]. Gram-Schmidt, twice over each: once leaves what cancellation has spoilt. A
// direction of which nothing but rounding is left becomes zero; a NaN stays one.
LONGHAUL_HOST_DEVICE inline void orthonormalize(float* directions, std::int64_t count, std::int64_t length) {
  constexpr double kRounding = 1e-6;
  for (std::int64_t k = 0; k < count; ++k) {
    float* row = directions + k * length;
    const double before = sqrt(dot_in_double(row, row, length));
    for (int time = 0; time < 2; ++time) {
      for (std::int64_t other = 0; other < k; ++other) {
        const float* from = directions + other * length;
        const float factor = static_cast<float>(-dot_in_double(row, from, length));
        for (std::int64_t i = 0; i < length; ++i) row[i] += factor * from[i];
      }
      const double norm = sqrt(dot_in_double(row, row, length));
      const bool is_rounding = norm <= kRounding * (time == 0 ? before : 1);
      for (std::int64_t i = 0; i < length; ++i)
        row[i] = is_rounding ? 0.f : static_cast<float>(double{row[i]} / norm);
      if (is_rounding) break;
    }
  }
}

// Ω [rank, rows].
std::vector<float> low_rank_start(std::int64_t rank, std::int64_t rows);

std::vector<std::uint8_t> encode(const LowRank& format, const PlainRow& row);
std::vector<float> decode_whole(const LowRank& format, const EncodedRow& message);

}  // namespace longhaul
