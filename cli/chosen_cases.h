// Which cases of a scenario a command of `longhaul run` is about.
#pragma once

#include "cli/commands.h"
#include "cli/work_plan.h"
#include "core/scenario/scenario.h"

namespace longhaul {

// A shard, the cases of a worker, or all. Throws InputError for a case that there is not.
WorkPlan planned(const RunOptions& options, const Scenario& scenario);

// --list-cases: a line each, name, seconds and bytes of memory, run alone. Returns the exit status.
int list_cases(const Scenario& scenario, const WorkPlan& plan);

}  // namespace longhaul
