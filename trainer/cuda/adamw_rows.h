// Clip and AdamW for all replicas at once, over tables [R, P]: the arithmetic of updates/clip.cc and
// updates/adamw.cc in functions that a GPU runs a warp a row or a thread each few columns.
#pragma once

#include <cmath>
#include <cstdint>

#include "trainer/cuda/pack.h"

namespace longhaul {

// Changes from step to step; it lies in device memory, so that a captured graph reads the step's own. By the
// host in double: rate = lr/(1 − β1^t), keep = 1 − lr · decay, correction2 = 1/(1 − β2^t).
struct StepScalars {
  float rate, keep, correction2;
};

// Does not change.
struct AdamwConstants {
  float beta1, rest1, beta2, rest2, epsilon;
};

constexpr std::int64_t kNormSlice = 4096;  // columns whose squares one row of the reduction adds up

inline std::int64_t norm_slices(std::int64_t columns) {
  return (columns + kNormSlice - 1) / kNormSlice;
}

// partial [R · slices] ← the squares of a slice; lanes in float32, their sum in double.
template <int kColumns>
struct SquareSums {
  const float* gradient;
  double* partial;
  std::int64_t columns, slices;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t begin = row % slices * kNormSlice,
                       end = begin + kNormSlice < columns ? begin + kNormSlice : columns;
    const float* from = gradient + row / slices * columns;
    double sum = 0;
    constexpr int kBlock = 32;  // packs whose squares are added in float32
    float block = 0;
    int in_block = 0;
    for (std::int64_t i = begin + team.lane() * kColumns; i < end; i += team.lanes() * kColumns) {
      const Pack<kColumns> g = Pack<kColumns>::read(from + i);
      for (int c = 0; c < kColumns; ++c) block += g.at[c] * g.at[c];
      if (++in_block == kBlock) {
        sum += block;
        block = 0;
        in_block = 0;
      }
    }
    sum = team.sum(sum + block);
    if (team.lane() == 0) partial[row] = sum;
  }
};

// factors [R] ← what each replica's gradient is multiplied with: clip_factor() of updates/clip.h.
struct ClipFactors {
  const double* partial;
  float* factors;
  std::int64_t slices;
  double largest;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t replica) const {
    double sum = 0;
    for (std::int64_t i = team.lane(); i < slices; i += team.lanes()) sum += partial[replica * slices + i];
    const double norm = sqrt(team.sum(sum));
    if (team.lane() != 0) return;
    if (largest == 0 || norm <= largest)
      factors[replica] = 1;
    else
      factors[replica] = static_cast<float>(norm < HUGE_VAL ? largest / norm : NAN);
  }
};

// One pass: reads gradient, weights and both moments, writes the last three.
template <int kColumns>
struct AdamwColumns {
  float* weights;
  const float* gradient;
  float *first_moment, *second_moment;
  const float* factors;           // [R]
  const StepScalars* scalars;     // one
  const std::uint32_t* decaying;  // a bit for each column: matrices decay, norms do not
  AdamwConstants constants;
  std::int64_t columns;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t replica, std::int64_t column) const {
    using Columns = Pack<kColumns>;
    const std::int64_t at = replica * columns + column;
    const Columns g = Columns::read(gradient + at);
    Columns w = Columns::read(weights + at), m = Columns::read(first_moment + at),
            v = Columns::read(second_moment + at);
    const float factor = factors[replica];
    const StepScalars step = *scalars;
    const std::uint32_t bits = decaying[column / 32] >> column % 32;
    for (int c = 0; c < kColumns; ++c) {
      const float gradient_c = factor * g.at[c];
      m.at[c] = constants.beta1 * m.at[c] + constants.rest1 * gradient_c;
      v.at[c] = constants.beta2 * v.at[c] + constants.rest2 * (gradient_c * gradient_c);
      w.at[c] = (bits >> c & 1 ? step.keep : 1.f) * w.at[c] -
                step.rate * m.at[c] / (sqrtf(v.at[c] * step.correction2) + constants.epsilon);
    }
    w.write(weights + at);
    m.write(first_moment + at);
    v.write(second_moment + at);
  }
};

}  // namespace longhaul
