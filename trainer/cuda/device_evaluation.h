// An evaluation of rows that lie in the GPU's memory: nothing of them comes to the host, only losses and
// sums. Its sequences lie on the card from the start.
#pragma once

#include <cstdint>
#include <vector>

#include "core/scenario/case.h"
#include "trainer/cuda/device_table.h"
#include "trainer/cuda/step_graph.h"
#include "trainer/model/boundaries.h"
#include "trainer/model/decoder.h"
#include "trainer/model/stacked_decoder.h"

namespace longhaul {

class DeviceEvaluation {
 public:
  // `replicas`: rows that are held here. `together`: all of them in one product, else one after the other.
  // `memory_limit` as of StackedDecoder.
  DeviceEvaluation(const TrainSpec& train, const Boundaries& boundaries, const std::vector<Batch>& batches,
                   int replicas, bool together, std::int64_t memory_limit);

  // What one allocates: nothing of size where there are no batches.
  static std::int64_t bytes(const TrainSpec& train, const std::vector<Batch>& batches, std::int64_t replicas);

  // Of rows [replicas, P].
  bool rows_are_equal(const float* rows);
  // weight_spread() of ranks/spread.h, with its bits; the mean of the rows becomes mean().
  double weight_spread(const float* rows);
  const float* mean() const { return mean_.get(); }  // [P] on the card
  void set_mean(const float* mean) { mean_.set(mean, mean_.size()); }

  // Mean losses in nats a token of `count` rows on some of the batches, by number: [numbers, count].
  std::vector<double> losses(const float* rows, int count, const std::vector<std::size_t>& numbers);

 private:
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
  StepGraph plain_;  // for its stream
};

}  // namespace longhaul
