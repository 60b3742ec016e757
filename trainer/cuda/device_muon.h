// Muon on tables in the GPU's memory: all replicas' matrices of one name at once. The products of the
// Newton–Schulz steps are LibTorch's batched ones, in the training's precision (in bf16 as Muon's own authors
// do, https://github.com/KellerJordan/Muon), into memory that is allocated once, so that a step can be
// captured as a graph.
#pragma once

#include <vector>

#include "trainer/cuda/device_table.h"
#include "trainer/cuda/pinned.h"
#include "trainer/cuda/row_kernels.h"

namespace longhaul {

class DeviceMuon {
 public:
  // Nothing is allocated where there are no matrices.
  DeviceMuon(const OptimizerSpec& spec, const std::vector<MuonMatrix>& matrices, const AdamwTables& tables,
             Precision precision);

  // What one allocates.
  static std::int64_t bytes(const std::vector<MuonMatrix>& matrices, std::int64_t replicas,
                            Precision precision);

  // Before run(); not part of a captured graph.
  void set(double lr, CudaStream stream);
  // On the stream, which is LibTorch's current one; `factors` [R] clip.
  void run(const float* factors, CudaStream stream);

 private:
  void orthogonalize(const MuonMatrix& matrix);

  OptimizerSpec spec_;
  std::vector<MuonMatrix> matrices_;
  AdamwTables tables_;
  Precision precision_;
  DeviceTable<float> work_;  // [R, ...] of the largest matrix
  // The same and its square, as the products take them; `narrow_` in bf16 alone.
  DeviceTable<std::byte> narrow_, next_, gram_, polynomial_;
  DeviceTable<double> partial_;
  DeviceTable<float> inverse_;  // [R]
  SentTable<MuonScalars> scalars_;
};

}  // namespace longhaul
