// The evaluations of a training, as its journal has them (journal::Keep, journal::Evaluate): models of
// replicas that come to a step earlier than others are kept until all are there.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/journal.h"
#include "trainer/checkpoint/training_state.h"
#include "trainer/cuda/accelerator.h"
#include "trainer/evaluation.h"
#include "trainer/speed.h"
#include "trainer/training_files.h"

namespace longhaul {

class Evaluations {
 public:
  // All must outlive it. `product`: the table that is evaluated.
  Evaluations(Evaluator& evaluator, Replicas& replicas, Slot product, TrainingFiles& files, Speed& speed);
  void use_card(Accelerator& accelerator);

  void keep(const journal::Keep& entry);
  void evaluate(const journal::Evaluate& entry);

  const Evaluation& last() const { return last_; }  // of step 0 where there is none
  double best_loss() const { return best_loss_; }   // infinite

  // What a checkpoint keeps, into `state`, and tensors, good until the next call; and back: what was found
  // first, then the kept models.
  void save(Json& state) const;
  std::vector<TensorView> tensors() const;
  void restore(const Json& state);
  void restore_kept(const Json& state, CheckpointTensors& tensors);

 private:
  using At = std::pair<int, std::string>;  // step, phase

  void swap_kept(const At& at);

  Evaluator& evaluator_;
  Replicas& replicas_;
  Slot product_;
  TrainingFiles& files_;
  Speed& speed_;
  Accelerator* accelerator_ = nullptr;  // on a GPU: holds the rows that are at work
  Evaluation last_;
  double best_loss_ = std::numeric_limits<double>::infinity();
  std::map<At, std::map<int, std::vector<float>>> kept_;  // models [P]; empty where another rank has it
};

}  // namespace longhaul
