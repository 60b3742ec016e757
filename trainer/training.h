// One training: it carries out a journal (core/plan/journal.h) on the rows of its replicas, entry by entry,
// and leaves checkpoints from which a training that was cut ends with the same bytes. The place in the
// journal, the rows, and what is under way between them (contributions, held rows) are all of its state.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/child_main.h"
#include "core/plan/journal.h"
#include "core/scenario/case.h"
#include "trainer/changed_values.h"
#include "trainer/checkpoint/checkpoint_folder.h"
#include "trainer/cuda/accelerator.h"
#include "trainer/data/dataset.h"
#include "trainer/evaluations.h"
#include "trainer/held_rows.h"
#include "trainer/inner_steps.h"
#include "trainer/merges.h"
#include "trainer/operations/operation_runner.h"
#include "trainer/speed.h"
#include "trainer/training_files.h"

namespace longhaul {

class Training {
 public:
  // `one` has a train section and has passed its method's check; `device` is where the replicas compute. With
  // several ranks each makes a Training and calls the same functions; they hold equal parts of the replicas.
  // Loads the data and initializes the replicas. Throws InputError for data that is not there, or is not that
  // of the other ranks, and for what cannot be had together (core/plan/combinations.h). `make`: the journal,
  // by default that which follows from the plan.
  using MakeJournal = std::function<std::unique_ptr<Journal>(const JournalSpec&)>;
  Training(const Case& config, Device device, std::unique_ptr<Backend> backend, TrainingFiles& files,
           ProgressReporter& progress, Ranks& ranks = one_rank(), const MakeJournal& make = {},
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
  JournalSpec journal_spec() const;

  void carry_out(const std::vector<Entry>& entries);
  bool end_round(const Round& round);  // false: it was asked to stop
  void carry_out(const Entry& next);
  void optimize(const journal::Optimize& entry);
  void post(const Operation& operation);
  void meet(const Operation& operation);
  void take(const journal::Local& entry);
  void end_step(const journal::EndStep& entry);
  bool looks_at(const journal::EndStep& entry) const;  // at all weights, once it has ended
  void look(const journal::EndStep& entry);

  bool is_asked_to_stop() const;
  [[noreturn]] void stop();
  void meet_ranks();  // they tell each other losses, times, and whether one was interrupted
  void write_bits(int step);
  void report(const journal::EndStep& entry);
  double new_tokens() const;
  void write_speed();
  void save_checkpoint(int step);
  void finish_writing();  // of the checkpoint before; throws what that threw
  void restore(const Checkpoint& checkpoint);
  Json identity() const;  // check_same_run()
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
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Update> update_;
  Arena arena_;
  ExchangeLog log_;
  Replicas replicas_;
  OperationRunner operations_;
  int saved_step_ = -1;  // of the newest checkpoint
  InnerSteps steps_;
  HeldRows held_;
  std::unique_ptr<Merges> merges_;                 // of a plan with merges
  std::unique_ptr<ChangedValues> changed_values_;  // where they are asked for
  Speed speed_;
  Evaluator evaluator_;
  Evaluations evaluations_;
  std::unique_ptr<Accelerator> accelerator_;  // on a GPU: holds the rows that are at work

  // How far the journal is carried out: entries; the last step that all ended, and who came through it;
  // steps of replicas; what was posted and has not met. And what this process began with.
  std::int64_t position_ = 0, replica_steps_ = 0, first_replica_steps_ = 0;
  int step_ = 0, first_step_ = 0;
  std::vector<int> there_;
  std::vector<Operation> pending_;
  std::vector<Entry> begun_;  // of a segment in whose midst the checkpoint was

  std::optional<double> peak_;     // FLOP/s of a card
  bool is_asked_to_stop_ = false;  // by a signal to one of the ranks

  CheckpointFolder checkpoints_;
  std::optional<Checkpoint> resumed_;
  std::future<void> writing_;  // of a checkpoint, waited for first: it reads what is above
};

}  // namespace longhaul
