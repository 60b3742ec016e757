// Muon on tables in the GPU's memory: all replicas' matrices of one name at once. The products of the
// Newton–Schulz steps are LibTorch's batched ones, in float32, into memory that is allocated once, so that a
// step can be captured as a graph.
#pragma once

#include <vector>

#include "trainer/cuda/device_table.h"
#include "trainer/cuda/row_kernels.h"

namespace longhaul {

class DeviceMuon {
 public:
  // Nothing is allocated where there are no matrices.
  DeviceMuon(const OptimizerSpec& spec, const std::vector<MuonMatrix>& matrices, const AdamwTables& tables);

  // What one allocates.
  static std::int64_t bytes(const std::vector<MuonMatrix>& matrices, std::int64_t replicas);

  // Before run(); not part of a captured graph.
  void set(double lr);
  // On the stream, which is LibTorch's current one; `factors` [R] clip.
  void run(const float* factors, CudaStream stream);

 private:
  void orthogonalize(const MuonMatrix& matrix);

  OptimizerSpec spec_;
  std::vector<MuonMatrix> matrices_;
  AdamwTables tables_;
  DeviceTable<float> work_, next_, gram_, polynomial_;  // [R, ...] of the largest matrix
  DeviceTable<double> partial_;
  DeviceTable<float> inverse_;  // [R]
  DeviceTable<MuonScalars> scalars_;
};

}  // namespace longhaul
