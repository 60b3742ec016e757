// Clip, AdamW and Muon on tables in the GPU's memory, with what they need besides: bits of the columns that
// decay and of those that are Muon's, partial sums, the scalars of the step. And the weights in bf16, which
// the step writes as it goes: 2 bytes a parameter instead of a pass of 6.
#pragma once

#include "trainer/cuda/device_muon.h"
#include "trainer/cuda/device_table.h"
#include "trainer/cuda/row_kernels.h"
#include "trainer/optimizer/adamw.h"

namespace longhaul {

class DeviceOptimizer {
 public:
  // `ranges`: AdamW's columns; the others are those of `muon`. `precision`: that of the products.
  DeviceOptimizer(const OptimizerSpec& spec, const std::vector<DecayRange>& ranges, const AdamwTables& tables,
                  const std::vector<MuonMatrix>& muon = {}, Precision precision = Precision::kFloat32);

  // What one allocates; the tables' pointers do not matter.
  static std::int64_t bytes(const std::vector<DecayRange>& ranges, const AdamwTables& tables,
                            const std::vector<MuonMatrix>& muon, Precision precision);

  // Before run(); not part of a captured graph.
  void set(double lr, int step);
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
  DeviceTable<StepScalars> scalars_;
  DeviceMuon muon_;
};

}  // namespace longhaul
