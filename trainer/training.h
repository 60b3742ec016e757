// One training: the replicas take their inner steps, follow the program of their method, and leave
// checkpoints from which a training that was cut ends with the same bytes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/child_main.h"
#include "core/plan/schedule.h"
#include "core/scenario/case.h"
#include "trainer/checkpoint/background_write.h"
#include "trainer/checkpoint/checkpoint_folder.h"
#include "trainer/cuda/accelerator.h"
#include "trainer/data/dataset.h"
#include "trainer/evaluation.h"
#include "trainer/model/boundaries.h"
#include "trainer/model/stacked_decoder.h"
#include "trainer/operations/operation_runner.h"
#include "trainer/optimizer/muon.h"
#include "trainer/own_pace.h"
#include "trainer/pipeline/bit_gates.h"
#include "trainer/pipeline/microbatches.h"
#include "trainer/pipeline/subspace.h"
#include "trainer/replicas/copied_rows.h"
#include "trainer/speed.h"
#include "trainer/training_files.h"

namespace longhaul {

class Training {
 public:
  // `one` has a train section and has passed its method's check; `device` is where the replicas compute. With
  // several ranks each makes a Training and calls the same functions; they hold equal parts of the replicas.
  // Loads the data and initializes the replicas. `schedule` says who takes part in the operations in which
  // times decide that, and who is gone when. Throws InputError for data that is not there, or is not that of
  // the other ranks, and for micro-batches that would leave their rank, for learned bits anywhere but in the
  // loop or its threads on one CPU, for absences anywhere but in one process on a CPU, and for dynamic
  // steps on a GPU.
  Training(const Case& config, Device device, std::unique_ptr<Backend> backend, TrainingFiles& files,
           ProgressReporter& progress, Ranks& ranks = one_rank(), Schedule schedule = {},
           OuterState outer_state = OuterState::kAuto);
  ~Training();

  // Before run(): continues after the newest whole checkpoint in the folder of the files, or from the start
  // if there is none. For each checkpoint that is not used a line in `refused` says why. Returns the steps
  // that are done. Throws InputError where the data or the device is not that of the checkpoint.
  int resume(std::vector<std::string>& refused);

  // To the last step; returns what training.json holds. Throws RunError that names step and replica where a
  // loss is not finite (there is a checkpoint before it), and Interrupted, after a checkpoint.
  Json run();

  // Of one card, or of the processor: speed.json then says which share of it was used. Without it that of a
  // card that is known (speed.h).
  void use_peak(double flop_per_second) { peak_ = flop_per_second; }

  const Arena& arena() const { return arena_; }

 private:
  // On the back-end, for each replica that this process holds.
  template <typename Work>
  void for_each_held(const Work& work) {
    const RowBlock held = arena_.held();
    backend_->for_each(held.size(), [&](int at) { work(held.first + at); });
  }

  // inner_steps.cc: what replicas compute between two exchanges. training.cc: all around it.

  // The inner steps from `first` on to one after which the replicas meet, or to an interrupt before that; no
  // replica waits for another in between. Returns the last step that all have taken.
  int inner_steps(int first);
  // Whether the replica takes the step: it is not gone (Absences), and has one at this step (DynamicSteps).
  bool computes(int replica, int step) const;
  // Replicas, ascending: those that are not gone; of these those that take the step, and those that are
  // evaluated at its end, which have come through its exchanges too.
  std::vector<int> present(int step) const;
  std::vector<int> computing(int step) const;
  std::vector<int> evaluated(int step) const;
  void check_absences() const;       // that they can be followed here
  void check_deadlines() const;      // likewise
  void check_dynamic_steps() const;  // likewise
  bool meet_after(int step) const;   // for an exchange, an evaluation or a checkpoint
  bool has_local_step(int step) const;
  bool is_evaluated(int step) const;
  bool is_kept(int step) const;
  // Gradient, and the optimizer where it does not wait for an exchange; adds its wall time to `seconds`.
  void inner_step(int step, int replica, double& loss, double& seconds, std::vector<float>& gates);
  // Of learned bits: the gates of the model's hops, and what takes a replica's micro-batches through them.
  void make_gates();
  void finish_step(int step);  // what follows the inner steps: operations, evaluation, files, checkpoint
  void follow_program(int step);
  // own_pace.cc: the same where no replica waits for another.

  void run_at_own_pace();
  void compute_alone();
  void step_alone(int step, int replica);
  int last_step_alone(int replica) const;
  bool stops_after(int step, int replica) const;
  bool has_merge_due(int step) const;
  bool finish_steps_alone();
  void finish_alone(int step, int replica);
  bool come_back_alone(int replica);
  void evaluate_kept();

  // Of the plan, with the groups of the schedule: posted at `step`, due there, and pending when it is over.
  std::vector<Operation> posted_at(int step) const;
  std::vector<Operation> due_at(int step) const;
  std::vector<Operation> pending_after(int step) const;
  void post(const Operation& operation);
  void apply(const Operation& operation);
  void take(const LocalStep& local, int step);
  // Of a method with an optimizer of its own.
  void prepare_all(int step);
  InnerStep inner_step_facts(int step, int updates) const;
  // The optimizer, where gradients are exchanged before it, in `posted`.
  void optimize_all(int step, const std::vector<Operation>& posted);
  // Whether the gradients of its step have been exchanged, as far as they should be; else the step is thrown
  // away.
  bool has_exchanged(int step, int replica, const std::vector<Operation>& posted) const;
  // Gradients of a step whose micro-batches leave their replica: the ones of each number m meet before those
  // of m + 1, and the optimizers come after all of them.
  void compute_along_paths(int step);
  void compute_stacked(int step);
  // A micro-batch of replicas [first, end), along `paths`, as one stack.
  void run_stack(int step, int microbatch, const std::vector<Route>& paths, RowBlock replicas);
  std::vector<Route> paths_at(int step, int microbatch) const;
  ReplicaRows<float> rows_of(Slot slot);
  void clear_gradients_for_partial();
  void optimize_all_unless_exchanged(int step);
  int inner_steps_on_gpu(int first);
  void begin_on_gpu(int step);
  void optimize(int step, int replica, double& seconds);  // clip, then AdamW and Muon
  void take_optimizer_step(int step, int replica);
  void optimize_on_gpu(int step);
  void meet_ranks();  // they tell each other losses, times, and whether one was interrupted
  void check_losses(int step) const;
  void check_loss(int step, int replica) const;
  void evaluate(int step, const std::string& phase);
  void write_bits(int step);
  void count_tokens(int step);
  void report(int step);
  void write_speed();
  void save_checkpoint(int step);
  void check_same_run(const Json& state) const;
  // The order of the sums, which a checkpoint must have been computed in.
  std::string arithmetic() const;
  // What turns the same arithmetic into other bits: the libraries, by the BLAS's name the kind of processor,
  // the GPU.
  Json libraries() const;
  std::size_t evaluated_sequences() const;
  Json summary() const;

  const Case case_;  // as it is trained (trained_case)
  const TrainSpec& train_;
  Device device_;
  std::unique_ptr<Backend> backend_;
  TrainingFiles& files_;
  ProgressReporter& progress_;
  Ranks& ranks_;

  Dataset data_;
  std::vector<MuonMatrix> muon_;
  std::vector<DecayRange> decay_;  // AdamW's columns
  OperationPlan plan_;
  PlanContext context_;
  Boundaries boundaries_;
  Decoder decoder_;
  Schedule schedule_;
  bool exchanges_gradients_;  // an operation comes between gradients and optimizer
  std::unique_ptr<Update> update_;
  Arena arena_;
  MicrobatchPass<float> microbatches_;
  std::optional<BitGates> gates_;
  // Of a replica with gates: it adds up what rounding does to the losses of a step's micro-batches.
  struct LearnedPass {
    std::unique_ptr<MicrobatchPass<float>> pass;
    RoundingEffects rounding;  // by hop
  };
  std::vector<LearnedPass> learned_passes_;  // by replica
  ExchangeLog log_;
  Replicas replicas_;
  OperationRunner operations_;
  std::vector<int> optimizer_steps_;  // by replica, so far
  CopiedRows copied_;
  Evaluator evaluator_;
  std::optional<Subspace> subspace_;         // that the weights are kept in
  std::unique_ptr<StackedDecoder> stacked_;  // of a stacked back-end on a CPU
  // Its rows [R, P] of micro-batches: the weights of their paths, and gradients before they are shared out.
  std::vector<float> composed_, partial_;
  std::unique_ptr<Accelerator> accelerator_;  // on a GPU: holds the rows that are at work

  std::unique_ptr<OwnPace> pace_;  // of a plan with merges
  Speed speed_;
  int counted_steps_ = 0, first_step_ = 0;  // whose tokens are counted; before this process's first
  double counted_tokens_ = 0;
  std::optional<double> peak_;                  // FLOP/s of a card
  std::vector<double> losses_, seconds_;        // of the step, by replica
  std::vector<std::vector<float>> used_gates_;  // by the step, by replica and hop
  bool is_asked_to_stop_ = false;               // by a signal to one of the ranks
  Evaluation last_;
  double best_loss_;

  CheckpointFolder checkpoints_;
  std::optional<Checkpoint> resumed_;
  int saved_step_ = -1;      // of the newest checkpoint
  BackgroundWrite writing_;  // of a checkpoint; goes first, as it reads what is above
};

}  // namespace longhaul
