// Muon for all replicas at once, over tables [R, P]: what its products do not do (device_muon.h), in
// functions that a GPU runs a warp a row or a thread each column. `work` is [R, rows · columns] of one
// matrix.
#pragma once

#include <cmath>
#include <cstdint>

#include "trainer/codecs/number_formats.h"
#include "trainer/device/host_device.h"
#include "trainer/optimizer/muon.h"
#include "trainer/optimizer/newton_schulz.h"

namespace longhaul {

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
    double sum = 0;
    for (std::int64_t i = team.lane(); i < slices; i += team.lanes()) sum += partial[replica * slices + i];
    const double norm = sqrt(team.sum(sum));
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
