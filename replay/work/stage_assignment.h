// Which stage of the model each worker serves, at which step.
#pragma once

#include <vector>

#include "core/base/index.h"

namespace longhaul {

// At first worker r · stages + s serves stage s. Workers may move between stages (pipeline/rebalance.h).
class StageAssignment {
 public:
  StageAssignment(int replicas, int stages);

  int stage_of(int worker, int step) const;
  // Of one stage, in ascending order.
  std::vector<int> workers_of(int stage, int step) const;
  // Whether the stage's workers are those that it had at first. True where rules have no stage (-1).
  bool is_original(int stage, int step) const;
  // False: it has not yet what it needs to take passes of that step.
  bool can_compute(int worker, int step) const {
    return worker != downloading_ || step < intervals_[as_index(worker)].back().first_step;
  }

  // From `first_step` on, later than that of any move before. It cannot compute until arrive().
  // Throws std::logic_error while another worker downloads.
  void move(int worker, int stage, int first_step);
  // What the moved worker needed is there.
  void arrive() { downloading_ = -1; }

 private:
  // Until the first step of the next one.
  struct Interval {
    int first_step, stage;
  };

  int stages_;
  std::vector<std::vector<Interval>> intervals_;  // by worker, in the order of their steps
  bool has_moves_ = false;
  int downloading_ = -1;  // worker
};

}  // namespace longhaul
