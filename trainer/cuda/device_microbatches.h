// The micro-batches of a step on tables in the GPU's memory: as pipeline/microbatches.h says, all replicas'
// micro-batches of one number before the next.
#pragma once

#include <functional>
#include <vector>

#include "trainer/cuda/device_table.h"
#include "trainer/cuda/row_kernels.h"
#include "trainer/pipeline/microbatches.h"

namespace longhaul {

class DeviceMicrobatches {
 public:
  // Rows [R, parameters] of `replicas`. `plan` must outlive it.
  DeviceMicrobatches(const PipelinePlan& plan, int replicas, std::int64_t parameters);

  // What one allocates.
  static std::int64_t bytes(const PipelinePlan& plan, std::int64_t replicas, std::int64_t parameters);

  // Tables [R, parameters].
  struct Tables {
    float *weights, *gradients;
  };
  // The mean losses of every replica's micro-batch `microbatch`, with its gradient, which is overwritten.
  using Decode = std::function<void(int microbatch, const Tables& tables)>;

  // By micro-batch and replica; empty where each meets its replica's whole row. Before run(), once a step; no
  // part of a captured graph.
  void set(const std::vector<std::vector<Route>>& paths, CudaStream stream);
  // On the stream, without waiting; can be captured.
  void run(const Tables& tables, const Decode& decode, CudaStream stream);

 private:
  PlaceOfPaths place_of_paths(int microbatch, int place) const;

  const PipelinePlan& plan_;
  int replicas_;
  std::int64_t parameters_;
  SentTable<DeviceStop> paths_;            // [microbatches, R, parts]
  DeviceTable<float> composed_, partial_;  // [R, parameters], where they are needed
};

}  // namespace longhaul
