// A GPU that holds the arena's rows and does on them all that a step takes: losses and gradients, clip and
// optimizer, and the exchanges of the method. The arena in host memory stays the place that checkpoints,
// evaluations and exports read; rows come back when they are wanted, and pages of host memory that never held
// one cost nothing.
//
// stacked: all replicas at once, and from the third step on as a captured CUDA graph, for which everything
// that changes from step to step (tokens, learning rate, step) lies in device memory. Otherwise the loop: one
// replica after the other, no graph, the same kernels.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/plan/paths.h"
#include "trainer/model/boundaries.h"
#include "trainer/model/decoder.h"
#include "trainer/operations/operation_runner.h"
#include "trainer/optimizer/muon.h"

namespace longhaul {

struct AcceleratorSpec {
  const TrainSpec& train;
  const std::vector<DecayRange>& decay;  // AdamW's columns
  const std::vector<MuonMatrix>& muon;   // the others
  const PipelinePlan& pipeline;
  const Boundaries& boundaries;
  bool stacked = true;
};

class Accelerator {
 public:
  // `replicas` and `operations` are those of the training, and outlive this. All ranks make theirs together.
  // Throws RunError where the GPU has not the memory. Needs built_with_cuda() and a GPU.
  static std::unique_ptr<Accelerator> make(const AcceleratorSpec& spec, Replicas& replicas,
                                           OperationRunner& operations);
  virtual ~Accelerator() = default;

  // All tables that the arena has, from the host's; back to it, or one of them.
  virtual void upload() = 0;
  virtual void download() = 0;
  virtual void download(Slot slot) = 0;

  // batches: of the replicas that this process holds; their losses are written, by replica. paths: of the
  // micro-batches, by number, replica and part; empty where none leaves its replica.
  virtual void gradients(const std::vector<Batch>& batches, const std::vector<std::vector<Route>>& paths,
                         std::vector<double>& losses) = 0;
  virtual void optimize(double lr, int step) = 0;
  // As OperationRunner's; where there is no kernel for it, through host memory.
  virtual void post(const Operation& operation) = 0;
  virtual void apply(const Operation& operation) = 0;
  virtual void take(const LocalStep& local) = 0;
  // Work on the arena in host memory: all tables come there, and go back.
  virtual void on_host(const std::function<void()>& work) = 0;

  // How many of a replica's sequences fit into memory together: what does not fit makes other sums.
  virtual int sequences_at_once() const = 0;
  virtual std::int64_t bytes() const = 0;  // of the tables on the GPU
};

}  // namespace longhaul
