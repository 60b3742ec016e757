// The program of a worker for one step: what it computes, what it lets begin, what it waits for. The replay
// gives these instructions times, the trainer carries them out.
#pragma once

#include <vector>

#include "core/plan/operations.h"

namespace longhaul {

struct Instruction {
  enum class Kind {
    kCompute,   // the step's work, up to where `left` of it remains
    kOptimize,  // the optimizer; its time is part of the step's
    kLocal,     // a local step of the plan, number `rule`
    kPost,      // bucket `bucket` of an operation may begin as far as this worker is concerned
    kAwait,     // it goes on when that operation is done for it
  };

  Kind kind = Kind::kCompute;
  double left = 0;    // of kCompute, a share of the step's time
  int rule = 0;       // of kPost and kAwait: an index in the plan
  int post_step = 0;  // of the operation
  int bucket = 0;     // of kPost; as many as there are: all were released during the compute
};

struct Program {
  std::vector<Instruction> instructions;
  std::size_t waits_end = 0;  // behind the optimizer and the last kAwait: nothing of the step is waited for
};

// In this order: the backward pass with the buckets that it releases; the operations before the optimizer,
// one after another; the optimizer; what is posted first; local steps; the blocking operations, one after
// another; what was posted earlier and is due; what else is posted now and awaited later. A worker that takes
// no part in an operation passes over it. A rule of merges has a kAwait in each step from which on something
// could be there, for what was posted by `post_step`.
Program program_of_step(const OperationPlan& plan, int steps, int step);

}  // namespace longhaul
