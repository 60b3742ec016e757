// The inner steps of a training on each back-end: losses, gradients, clip and optimizer of the replicas held
// here.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/plan/journal.h"
#include "core/scenario/case.h"
#include "trainer/cuda/accelerator.h"
#include "trainer/data/dataset.h"
#include "trainer/model/boundaries.h"
#include "trainer/model/decoder.h"
#include "trainer/operations/update.h"
#include "trainer/optimizer/muon.h"
#include "trainer/pipeline/bit_gates.h"
#include "trainer/pipeline/microbatches.h"
#include "trainer/pipeline/subspace.h"

namespace longhaul {

// Steps that follow each other without a meeting: entries of distinct replicas, and the end of the step, if
// the journal has it before anything else.
struct Round {
  std::vector<journal::Compute> computes;
  std::optional<journal::EndStep> end;

  bool is_apart_from(const journal::Compute& other) const;
};

// By replica, of the last step that it took.
struct StepResults {
  explicit StepResults(std::size_t replicas) : losses(replicas), seconds(replicas), gates(replicas) {}

  std::vector<double> losses, seconds;
  std::vector<std::vector<float>> gates;  // of learned bits, by hop: those that it used
};

// The optimizer on rows in host memory: clip, then the step of the method's own (Update) or of AdamW and
// Muon; weights of a subspace are projected back into it. What is referred to must outlive it.
struct RowOptimizer {
  const TrainSpec& train;
  const std::vector<DecayRange>& decay;  // AdamW's columns; the others are those of `muon`
  const std::vector<MuonMatrix>& muon;
  const Update& update;
  Arena& arena;
  std::vector<int> taken;            // how many steps that of each replica has taken, wherever it is held
  std::optional<Subspace> subspace;  // that the weights are kept in

  // The step of a replica that is held here, on its gradient; several threads may take those of several.
  void step(int step, int replica);
  // What the method's own needs before an exchange.
  void prepare(int step, int replica) const;
  InnerStep facts(int step, int updates) const;
  void count_elsewhere(const std::vector<int>& replicas, int steps);
};

class InnerSteps {
 public:
  struct World {
    const Case& config;  // as it is trained
    const OperationPlan& plan;
    const Dataset& data;
    const Decoder& decoder;
    const Boundaries& boundaries;
    const Update& update;
    Replicas& replicas;
    const std::vector<MuonMatrix>& muon;
    const std::vector<DecayRange>& decay;  // AdamW's columns
    Device device;
    const int& saved_step;  // of the newest checkpoint
  };

  // All that is in `world` must outlive it.
  explicit InnerSteps(const World& world);
  // Of a subspace: of the initial weights, which are projected.
  void keep_in_subspace(std::vector<float>& weights);
  // Uploads the initial state, and warms up: the first step tries kernels, the second is captured, and
  // neither is as long as those of the training.
  void use_card(Accelerator& accelerator);

  // As soon as the round is done by all that are held here, on the calling thread, in order. False: no other
  // round is begun.
  using AfterRound = std::function<bool(const Round& round)>;
  // Returns how many rounds are done. Throws RunError that names step and replica where a loss is not finite.
  // Several ranks take the same rounds.
  std::size_t run(const std::vector<Round>& rounds, const AfterRound& after_round);
  // The optimizer of a step whose gradients were exchanged.
  void optimize(const journal::Optimize& entry);

  StepResults& results() { return results_; }
  std::vector<int>& optimizer_steps() { return optimizer_.taken; }
  void check_loss(int step, int replica, double loss) const;

  // Of learned bits: null without them.
  BitGates* gates() { return gates_ ? &*gates_ : nullptr; }

 private:
  void make_gates();
  std::size_t run_apart(const std::vector<Round>& rounds, const AfterRound& after);
  std::size_t run_on_card(const std::vector<Round>& rounds, const AfterRound& after);
  // Gradient, and the optimizer where it does not wait for an exchange; adds its wall time to the seconds.
  void step(int step, int replica, StepResults& results);
  // The step of these replicas, with gradients of all that are held here.
  void step_together(const std::vector<int>& replicas, int step);
  // Where micro-batches leave their replica: the ones of each number m meet before those of m + 1, and the
  // optimizers come after all of them.
  void run_along_paths(int step);
  void prepare(const Round& round);
  // What a card computes at once: the step of each replica, 0 where it takes none.
  using StepOf = std::vector<int>;
  StepOf step_of(const std::vector<int>& replicas, int step) const;
  // Whether the optimizer may follow the gradients on the card without anything between.
  bool may_optimize() const { return !exchanges_gradients_ && !world_.update.has_own_optimizer(); }
  void begin_on_card(const StepOf& step_of, bool optimizes);
  void finish_on_card(const StepOf& step_of);
  void optimize_on_card(const StepOf& step_of);
  void optimize(const std::vector<int>& replicas, int step);
  void optimize(int step, int replica, double& seconds);
  // Whether the card's optimizer can take the step: that of all rows, which are alike in how many they took.
  bool is_of_whole_card(const StepOf& step_of) const;
  std::vector<Route> paths_at(int step, int microbatch) const;
  ReplicaRows<float> rows_of(Slot slot) const;
  template <typename Work>
  void for_each_held(const Work& work) {
    const RowBlock held = world_.replicas.arena.held();
    world_.replicas.backend.for_each(held.size(), [&](int at) { work(held.first + at); });
  }

  const World world_;
  const TrainSpec& train_;
  const bool exchanges_gradients_;
  MicrobatchPass<float> microbatches_;
  std::optional<BitGates> gates_;
  // Of a replica with gates: it adds up what rounding does to the losses of a step's micro-batches.
  struct LearnedPass {
    std::unique_ptr<MicrobatchPass<float>> pass;
    RoundingEffects rounding;  // by hop
  };
  std::vector<LearnedPass> learned_passes_;  // by replica
  RowOptimizer optimizer_;
  Accelerator* accelerator_ = nullptr;  // on a GPU: holds the rows that are at work

  StepResults results_;
};

}  // namespace longhaul
