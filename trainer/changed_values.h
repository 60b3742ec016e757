// How many of a replica's weights have another bf16 value than before: all that has to be sent to those who
// hold its weights in bf16, as the rollout workers of a post-training do (PULSE, arXiv 2602.03839).
//
// A weight is rounded to nearest, ties to even; a value has changed where its 16 bits have. Seven bits of its
// mantissa are kept, so that of |w| in [2^e, 2^(e+1)) two neighbours are u = 2^(e-7) apart, and an update d
// that is small beside u changes the value where w lies within |d| of a boundary: with probability
// min(1, |d| / u).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/model_shape.h"
#include "trainer/checkpoint/training_state.h"
#include "trainer/operations/update.h"
#include "trainer/training_files.h"

namespace longhaul {

class ChangedValues {
 public:
  // Weights as they are now are those of step 0. A row of changed_values.csv for each `every` steps, replica
  // and part of the model. Replicas and files must outlive it.
  ChangedValues(int every, const ModelShape& shape, Replicas& replicas, TrainingFiles& files);

  // Of steps with a row, and of the one before each.
  bool looks_at(int step) const { return step % every_ == 0 || is_before_row(step); }
  // At the end of such a step, with all rows of kWeights in host memory. Rows for the replicas `there`; one
  // that was away is compared with what it had then. All ranks call it.
  void look(int step, const std::vector<int>& there);

  // What a checkpoint after the step keeps, good until the next look(); and back.
  std::vector<TensorView> tensors(int step) const;
  void restore(int step, CheckpointTensors& tensors);

 private:
  using Values = std::vector<std::vector<std::uint16_t>>;  // bf16 [P] by replica; empty of another rank's
  struct Part {
    std::string name;
    Columns columns;
  };
  struct Changed {
    double in_step = 0, since_row = 0;  // how many
  };

  bool is_before_row(int step) const { return every_ > 1 && (step + 1) % every_ == 0; }
  Values rounded() const;
  std::vector<Changed> changed(const Values& now) const;  // [replicas, parts], on every rank
  void write(int step, int replica, const Changed* of_parts);

  const int every_;
  std::vector<Part> parts_;
  Replicas& replicas_;
  TrainingFiles& files_;
  Values row_, before_;  // at the last row, and after the step before the next one (every_ 1: the same)
};

}  // namespace longhaul
