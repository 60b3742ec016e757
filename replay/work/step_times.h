// How long each worker computes at each inner step.
#pragma once

#include <vector>

#include "core/plan/trace.h"
#include "core/scenario/case.h"

namespace longhaul {

// Were it to compute the whole model: with stages it takes
// its stage's share of that. Without stages a worker is a replica.
class StepTimes {
 public:
  // `trace` must outlive it; throws InputError if it lacks the measured times that the case asks for.
  StepTimes(const Case& config, const Trace& trace);

  double seconds(int worker, int step) const;  // steps count from 1
  // Whether it takes a worker equally long at each step.
  bool are_constant() const { return rule_.kind == StepTime::Kind::kConstant; }

 private:
  double whole_batch_s(int step) const;
  double drawn_s(int worker, int step) const;

  StepTime rule_;
  std::vector<double> factors_;  // by worker; empty: all 1
  const Trace& trace_;
};

}  // namespace longhaul
