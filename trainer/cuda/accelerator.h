// A GPU that holds the arena's rows and does on them all that a step takes: losses and gradients, clip and
// optimizer, the exchanges of the method, and evaluations. The arena in host memory stays the place that
// checkpoints and exports read; rows come back when they are wanted, and pages of host memory that never held
// one cost nothing.
//
// stacked: all replicas at once, and from the third step on as a captured CUDA graph, for which everything
// that changes from step to step (tokens, learning rate, step) lies in device memory. Steps follow each other
// on the card without waiting for the host, which brings the next one's tokens and reads the last one's
// losses meanwhile. Otherwise the loop: one replica after the other, no graph, the same kernels.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/plan/paths.h"
#include "trainer/model/boundaries.h"
#include "trainer/model/decoder.h"
#include "trainer/operations/operation_runner.h"
#include "trainer/optimizer/muon.h"

namespace longhaul {

// Where the tables lie that outer steps alone use: slow weights, outer momentum, errors of codecs. In host
// memory they cost the card nothing, and kernels reach them over the bus. kAuto: there, if otherwise a
// replica's sequences of a step would not fit on the card together. No bit depends on it.
enum class OuterState { kAuto, kCard, kHost };

struct AcceleratorSpec {
  const TrainSpec& train;
  const std::vector<DecayRange>& decay;  // AdamW's columns
  const std::vector<MuonMatrix>& muon;   // the others
  const PipelinePlan& pipeline;
  const Boundaries& boundaries;
  bool stacked = true;
  const std::vector<Batch>& validation = nothing<std::vector<Batch>>();  // what evaluations read
  const OperationPlan& plan = nothing<OperationPlan>();
  OuterState outer_state = OuterState::kAuto;
  // Called before rows in host memory change, which something else may be reading.
  std::function<void()> before_rows_change = [] {};

  template <typename Of>
  static const Of& nothing() {
    static const Of none;
    return none;
  }
};

// What an evaluation asks of the rows of a slot that are at work on the card. Nothing of them comes to the
// host.
class RowsOnCard {
 public:
  virtual ~RowsOnCard() = default;
  // Whether all that are held here have the same bits.
  virtual bool are_equal(Slot slot) = 0;
  // weight_spread() of weight_spread.h, with its bits; of one rank. Their mean is kept for losses().
  virtual double spread(Slot slot) = 0;
  // The mean [P] where it was made elsewhere.
  virtual void set_mean(const float* mean) = 0;
  // Mean losses in nats a token, on batches of the validation by number: [numbers, rows]. Of each row that is
  // held here, of the first of these, or of the mean.
  enum class Of { kEach, kFirst, kMean };
  virtual std::vector<double> losses(Slot slot, Of of, const std::vector<std::size_t>& numbers) = 0;
};

class Accelerator {
 public:
  // `replicas` and `operations` are those of the training, and outlive this. All ranks make theirs together.
  // Throws InputError where the GPU has not the memory (card_memory.h). Needs built_with_cuda() and a GPU.
  static std::unique_ptr<Accelerator> make(const AcceleratorSpec& spec, Replicas& replicas,
                                           OperationRunner& operations);
  virtual ~Accelerator() = default;

  // All tables that the arena has, from the host's; back to it with what is pending, or one of them. At a
  // start the moments are zero, and are cleared; the gradient is nobody's.
  enum class State { kAtStart, kTrained };
  virtual void upload(State state) = 0;
  virtual void download() = 0;
  virtual void download(Slot slot) = 0;

  struct Optimizing {
    double lr;
    int step;
  };
  // Begins a step: gradients, and the optimizer behind them unless something comes between. batches: of the
  // replicas that this process holds. paths: of the micro-batches, by number, replica and part; empty where
  // none leaves its replica. At most kStepsUnderWay are under way, none with anything but another step.
  virtual void begin(const std::vector<Batch>& batches, const std::vector<std::vector<Route>>& paths,
                     std::optional<Optimizing> optimizing) = 0;
  // Of the first step that was begun and is not finished: waits for its losses, which are written, by
  // replica. Returns its seconds on the card.
  virtual double finish(std::vector<double>& losses) = 0;
  // The optimizer by itself, on gradients of a step that is finished.
  virtual void optimize(double lr, int step) = 0;
  // As OperationRunner's; where there is no kernel for it, through host memory.
  virtual void post(const Operation& operation) = 0;
  virtual void apply(const Operation& operation) = 0;
  virtual void take(const LocalStep& local, const std::vector<int>& replicas) = 0;
  virtual RowsOnCard& rows() = 0;
  // Work on the arena in host memory: all tables come there, and go back.
  virtual void on_host(const std::function<void()>& work) = 0;

  // How many of a replica's sequences fit into memory together: what does not fit makes other sums. And how
  // many replicas.
  virtual int sequences_at_once() const = 0;
  virtual int replicas_at_once() const = 0;
  virtual bool has_outer_state_on_host() const = 0;
};

}  // namespace longhaul
