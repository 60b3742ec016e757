// Replays that a search asks for, and who carries them out.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/child_main.h"
#include "core/plan/trace.h"
#include "core/scenario/case.h"
#include "planner/extrapolation.h"
#include "replay/output/replayed_times.h"

namespace longhaul {

// One replay that the search asks for.
struct ReplayTask {
  std::string name;  // for people
  Case config;
  Trace trace;
  std::vector<int> kept = {};  // steps after which clocks are kept, ascending
  // Filled in by who replays; null: it failed, and `error` says why.
  std::shared_ptr<const ReplayedTimes> times = {};
  std::string error = {};
};

struct Evaluation;

// Of a search, the candidates that may still be better than what was found.
struct StillOpen {
  std::size_t count = 0;
  // Processor time, if each of their exchanges were replayed: most of the time one replay rules out many.
  // Takes moments to count.
  std::function<double()> most_s;
};

struct PlanTools {
  // Checks a scenario of one case, whose files lie in `folder`, as `longhaul check` does. Throws InputError.
  std::function<Case(const Json& scenario)> validated;
  // Replays all, some at a time; `phase` is what the user sees. May throw to end the search.
  std::function<void(std::vector<ReplayTask>& tasks, const std::string& phase)> replay;
  std::string folder;  // for files that a changed network is read from; they may go with the plan's work
  // Where not empty: told of the best plan so far when more is known.
  std::function<void(const Evaluation& best, const StillOpen& open)> so_far = {};
};

// The first steps of a case, at a fidelity, as a task.
ReplayTask first_steps(Case config, int steps, const std::string& fidelity, const std::string& name);

// Its times, which `periods` repeat; of a replay of all steps too. Throws RunError if the replay failed.
TrainingTime training_time(const ReplayTask& task, const Periods& periods, int steps);

// So many times as many periods are replayed, one after the other, where the last two differ and nothing is
// drawn: windows settle in some (extrapolation.h). None that may be expected to take more processor seconds.
constexpr int kSettlingTimes[] = {4, 16};
constexpr double kSettling_s = 0.2;

// How many steps these are; none where `time`, of a replay of fewer, needs no longer one, or it takes too
// long.
std::optional<int> settling_steps(const Case& config, const std::string& fidelity, const TrainingTime& time,
                                  int times);

// Carries out one task in this thread, in fidelity analytic, flow or linux, and fills in its times or its
// error. Throws Interrupted.
void replay_here(ReplayTask& task, ProgressReporter& reporter);

// Of cases that are replayed otherwise than as candidates (another rate of a link): their times.
std::vector<TrainingTime> times_of(const std::vector<Case>& cases, const PlanTools& tools,
                                   const std::vector<std::string>& names, const std::string& phase);

}  // namespace longhaul
