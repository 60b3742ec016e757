// Trainings whose exchanges take turns: one is over before the next one is posted, all replicas take part in
// each, nothing is drawn, and all compute equally long. Then the n-th exchange does not depend on how many
// steps were computed since the one before it: a replay of one number of inner steps serves all others.
//
// The clock of a worker after step s is s steps of compute and what it has waited in the exchanges until
// then. Of a replay of a few periods these waits are taken, and put between the steps of another H.
#pragma once

#include <optional>
#include <vector>

#include "core/plan/operations.h"
#include "replay/output/replayed_times.h"

namespace longhaul {

// One exchange.
struct Turn {
  int rule = 0;                       // of the plan
  int post_step = 0, await_step = 0;  // posted behind that step; the end of the other one waits for it
};

// Those of `steps` steps, in their order. None where the plan's exchanges do not take turns: with groups,
// quorums, merges, stages, collectives inside a step, or an exchange posted while another is open.
std::optional<std::vector<Turn>> turns_of(const OperationPlan& plan, int steps);

// Whether `others` are the first of `base`, and computes at least as long between them.
bool are_same_turns(const std::vector<Turn>& base, const std::vector<Turn>& others);

// The steps whose clocks waits_of() reads, ascending.
std::vector<int> steps_of_turns(const std::vector<Turn>& turns);

// Of a replay of `steps` steps whose clocks were kept after the steps `kept`, those of steps_of_turns() among
// them: the waits of each worker, in seconds, up to each turn and with it, [turn][worker]. None where not all
// compute equally long, or where an exchange was not over before the next one was posted, or less than
// `least_silence_s` before.
std::optional<std::vector<std::vector<double>>> waits_of(const ReplayedTimes& base,
                                                         const std::vector<int>& kept,
                                                         const std::vector<Turn>& turns, int steps,
                                                         double least_silence_s);

// What a replay with these turns and waits would have kept after the steps `wanted`, the last of which is its
// end; each step takes `step_s`. Without exchanges and the loads of links.
ReplayedTimes times_with(const std::vector<std::vector<double>>& waits_s, const std::vector<Turn>& turns,
                         double step_s, const std::vector<int>& wanted);

// Of a replay of `steps` steps whose clocks were kept after the steps `kept`, what it would have kept after
// some of them, if the last of these were its end; likewise without exchanges and loads.
ReplayedTimes beginning_of(const ReplayedTimes& whole, const std::vector<int>& kept, int steps,
                           const std::vector<int>& wanted);

}  // namespace longhaul
