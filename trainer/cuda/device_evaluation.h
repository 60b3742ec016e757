// An evaluation of rows that lie in the GPU's memory: nothing of them comes to the host, only losses and
// sums. Its sequences lie on the card from the start.
#pragma once

#include <cstdint>
#include <vector>

#include "core/scenario/case.h"
#include "trainer/cuda/captured_work.h"
#include "trainer/cuda/card_memory.h"
#include "trainer/cuda/card_tables.h"
#include "trainer/cuda/device_table.h"
#include "trainer/model/boundaries.h"
#include "trainer/model/decoder.h"
#include "trainer/model/stacked_decoder.h"

namespace longhaul {

class DeviceEvaluation : public RowsOnCard {
 public:
  // `together`: all rows in one product, else one after the other. What is referred to must outlive it.
  DeviceEvaluation(const TrainSpec& train, const Boundaries& boundaries, const std::vector<Batch>& batches,
                   const CardTables& tables, int replicas, bool together, const MemoryPlan& memory);

  // What one allocates: nothing of size where there are no batches.
  static std::int64_t bytes(const TrainSpec& train, const std::vector<Batch>& batches, std::int64_t replicas);

  bool are_equal(Slot slot) override;
  double spread(Slot slot) override;
  void set_mean(const float* mean) override { mean_.set(mean, mean_.size()); }
  std::vector<double> losses(Slot slot, Of of, const std::vector<std::size_t>& numbers) override;

 private:
  const CardTables& tables_;
  const MemoryPlan& memory_;
  std::int64_t parameters_;
  int replicas_;
  bool together_;
  std::vector<int> sequences_;        // of each batch
  std::vector<std::int64_t> begins_;  // of its tokens
  DeviceTable<std::int64_t> tokens_;  // of all batches, one after the other
  DeviceTable<double> losses_;        // [batches, replicas]
  DeviceTable<float> mean_;           // [P]
  DeviceTable<double> squares_;       // of a piece of the columns
  DeviceTable<double> sums_;          // by kBlock columns
  DeviceTable<int> differs_;
  StackedDecoder decoder_;
  CapturedWork plain_;  // for its stream
};

}  // namespace longhaul
