// Replays that a search asks for, and who carries them out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/plan/trace.h"
#include "core/scenario/case.h"
#include "planner/extrapolation.h"

namespace longhaul {

// One replay that the search asks for. Who carries it out writes the tables of the case into `folder`.
struct ReplayTask {
  std::string name;  // for people
  Case config;
  Trace trace;
  std::string folder;  // filled in by who replays; "": it failed, and `error` says why
  std::string error;
};

struct PlanTools {
  // Checks a scenario of one case, whose files lie in `folder`, as `longhaul check` does. Throws InputError.
  std::function<Case(const Json& scenario)> validated;
  // Replays all, some at a time; `phase` is what the user sees. May throw to end the search.
  std::function<void(std::vector<ReplayTask>& tasks, const std::string& phase)> replay;
};

// The first steps of a case, at a fidelity, as a task.
ReplayTask first_steps(Case config, int steps, const std::string& fidelity, const std::string& name);

// Of cases that are replayed otherwise than as candidates (another rate of a link): their times.
std::vector<TrainingTime> times_of(const std::vector<Case>& cases, const PlanTools& tools,
                                   const std::vector<std::string>& names, const std::string& phase);

}  // namespace longhaul
