// Clip, AdamW and Muon for all replicas at once, over tables [R, P]: the steps of optimizer/ in functions
// that a GPU runs a warp a row or a thread each few columns; of Muon what its products do not do
// (DeviceMuon).
#pragma once

#include <cmath>
#include <cstdint>

#include "trainer/codecs/number_formats.h"
#include "trainer/device/host_device.h"
#include "trainer/model/packs.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/optimizer/muon.h"

namespace longhaul {

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

// The norm of row `row` of which `partial` has the sums of squares of its slices.
template <typename Team>
LONGHAUL_HOST_DEVICE double norm_of_slices(const Team& team, const double* partial, std::int64_t row,
                                           std::int64_t slices) {
  double sum = 0;
  for (std::int64_t i = team.lane(); i < slices; i += team.lanes()) sum += partial[row * slices + i];
  return sqrt(team.sum(sum));
}

// factors [R] ← what each replica's gradient is multiplied with.
struct ClipFactors {
  const double* partial;
  float* factors;
  std::int64_t slices;
  double largest;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t replica) const {
    const double norm = norm_of_slices(team, partial, replica, slices);
    if (team.lane() != 0) return;
    factors[replica] = static_cast<float>(clip_factor(norm, largest));
  }
};

// narrow ← the weights as products in bf16 take them.
template <int kColumns>
struct NarrowColumns {
  const float* weights;
  Bf16* narrow;
  std::int64_t columns;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t replica, std::int64_t column) const {
    const std::int64_t at = replica * columns + column;
    const NumberPack<float, kColumns> w = read_pack<kColumns>(weights + at);
    Floats<kColumns> copy;
    for (int c = 0; c < kColumns; ++c) copy.at[c] = w[c];
    write_pack<kColumns>(narrow + at, copy);
  }
};

// One pass: reads gradient, weights and both moments, writes the last three, and the weights in bf16.
template <int kColumns>
struct AdamwColumns {
  float* weights;
  const float* gradient;
  float *first_moment, *second_moment;
  const float* factors;           // [R]
  const StepScalars* scalars;     // one, in device memory: a captured graph reads the step's own
  const std::uint32_t* decaying;  // a bit for each column: matrices decay, norms do not
  const std::uint32_t* left_out;  // likewise of the columns that another optimizer has; null: none
  AdamwConstants constants;
  std::int64_t columns;
  Bf16* narrow;  // null: not kept

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t replica, std::int64_t column) const {
    using Columns = Pack<kColumns>;
    const std::int64_t at = replica * columns + column;
    const Columns g = Columns::read(gradient + at);
    Columns w = Columns::read(weights + at), m = Columns::read(first_moment + at),
            v = Columns::read(second_moment + at);
    const float factor = factors[replica];
    const StepScalars step = *scalars;
    const std::uint32_t bits = decaying[column / 32] >> column % 32,
                        others = left_out ? left_out[column / 32] >> column % 32 : 0;
    for (int c = 0; c < kColumns; ++c)
      if (!(others >> c & 1))
        adamw_column(constants, step, bits >> c & 1 ? step.keep : 1.f, factor * g.at[c], w.at[c], m.at[c],
                     v.at[c]);
    w.write(weights + at);
    m.write(first_moment + at);
    v.write(second_moment + at);
    if (!narrow) return;
    Floats<kColumns> copy;
    for (int c = 0; c < kColumns; ++c) copy.at[c] = w.at[c];
    write_pack<kColumns>(narrow + at, copy);
  }
};

// `work` is [R, rows · columns] of one matrix.
struct MuonLookAhead {
  const float* gradient;  // [R, P], from the matrix's first column on, as the other tables
  float* first_moment;
  const float* factors;  // [R], of the clipping
  float momentum;
  float* work;
  std::int64_t columns, size;  // P; of the matrix

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t replica, std::int64_t i) const {
    const std::int64_t at = replica * columns + i;
    work[replica * size + i] = muon_look_ahead(momentum, factors[replica] * gradient[at], first_moment[at]);
  }
};

// factors [R] ← 1/(‖matrix‖_F + epsilon), from the sums of squares of its slices (SquareSums).
struct InverseNorms {
  const double* partial;
  float* factors;
  std::int64_t slices;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t replica) const {
    const double norm = norm_of_slices(team, partial, replica, slices);
    if (team.lane() == 0) factors[replica] = 1 / (static_cast<float>(norm) + kNewtonSchulzEpsilon);
  }
};

struct ScaleRows {
  float* work;
  const float* factors;  // [R]
  std::int64_t size;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t replica, std::int64_t i) const {
    work[replica * size + i] *= factors[replica];
  }
};

struct MuonColumns {
  float* weights;
  const float* work;           // orthogonalized
  const MuonScalars* scalars;  // one, in device memory: a captured graph reads the step's own
  float scale;
  std::int64_t columns, size;
  Bf16* narrow;  // likewise from the matrix's first column on; null: not kept

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t replica, std::int64_t i) const {
    const std::int64_t at = replica * columns + i;
    muon_column(*scalars, scale, work[replica * size + i], weights[at]);
    if (narrow) store(narrow[at], weights[at]);
  }
};

}  // namespace longhaul
