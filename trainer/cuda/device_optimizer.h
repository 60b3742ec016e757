// Clip, AdamW and Muon on tables in the GPU's memory, with what they need besides: bits of the columns that
// decay and of those that are Muon's, partial sums, the scalars of the step. And the weights in bf16, which
// the step writes as it goes: 2 bytes a parameter instead of a pass of 6.
#pragma once

#include <vector>

#include "trainer/cuda/device_table.h"
#include "trainer/cuda/row_kernels.h"
#include "trainer/optimizer/adamw.h"

namespace longhaul {

// Muon on tables in the GPU's memory: all replicas' matrices of one name at once. The products of the
// Newton–Schulz steps are LibTorch's batched ones, in the training's precision (in bf16 as Muon's own authors
// do, https://github.com/KellerJordan/Muon), into memory that is allocated once, so that a step can be
// captured as a graph.
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

class DeviceOptimizer {
 public:
  // `ranges`: AdamW's columns; the others are those of `muon`. `precision`: that of the products.
  DeviceOptimizer(const OptimizerSpec& spec, const std::vector<DecayRange>& ranges, const AdamwTables& tables,
                  const std::vector<MuonMatrix>& muon = {}, Precision precision = Precision::kFloat32);

  // What one allocates; the tables' pointers do not matter.
  static std::int64_t bytes(const std::vector<DecayRange>& ranges, const AdamwTables& tables,
                            const std::vector<MuonMatrix>& muon, Precision precision);

  // Before run(), at most once a step and two steps under way; not part of a captured graph.
  void set(double lr, int step, CudaStream stream);
  // On the stream, without waiting; can be captured.
  void run(CudaStream stream);

  // The weights in bf16 [replicas, P]; null where products are float32. Whoever else changes weights says so,
  // and lets them be written anew before they are read, outside of a captured graph.
  const Bf16* narrow() const { return narrow_.get(); }
  void weights_have_changed() { narrow_is_old_ = true; }
  void renew_narrow(CudaStream stream);

 private:
  OptimizerSpec spec_;
  DeviceTable<Bf16> narrow_;
  bool narrow_is_old_ = true;
  AdamwTables tables_;
  DeviceTable<std::uint32_t> decaying_, left_out_;
  DeviceTable<double> partial_;
  DeviceTable<float> factors_;
  SentTable<StepScalars> scalars_;
  DeviceMuon muon_;
};

}  // namespace longhaul
