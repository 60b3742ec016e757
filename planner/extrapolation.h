// The time of a whole training from a replay of its first outer steps.
//
// A plan of operations repeats: with P the period of its rules (H for most methods, 1 for ddp), a replay of K
// steps with S − K a multiple of P ends as the whole training of S steps ends. So where the last two periods
// take equally long, the whole takes the time of the K steps plus (S − K) / P of such periods: exactly what a
// replay of all steps says, as long as nothing is drawn and nothing changes with time. Where periods differ
// (random pairs) their mean stands for the rest, with its standard error.
#pragma once

#include <string>
#include <vector>

#include "core/plan/operations.h"

namespace longhaul {

// Steps after which the plan of operations repeats: the least common multiple of its rules.
int period_of(const OperationPlan& plan);

// K: how many of `steps` to replay. Enough periods for windows to settle, or for a mean over draws.
int steps_to_replay(const OperationPlan& plan, int steps);

struct TrainingTime {
  double total_s = 0;
  double replayed_s = 0;        // of the steps that were replayed
  double standard_error_s = 0;  // of draws; 0: the periods are equal, or nothing was left out
  int replayed_steps = 0, outer_steps = 0;
  bool is_exact = false;  // the last two periods are equal, or all steps were replayed
};

// `clock_s`: of the last replica after P, 2P, … and after the last replayed step.
TrainingTime training_time(const std::vector<double>& clock_s, double end_s, int period, int replayed,
                           int steps);

// The same from CASE_FOLDER/steps.csv.
TrainingTime training_time(const std::string& case_folder, int period, int replayed, int steps);

}  // namespace longhaul
