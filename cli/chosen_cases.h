// Which cases of a scenario a run does, and --list-cases.
#pragma once

#include "checks/work_estimate.h"
#include "core/scenario/scenario.h"

namespace longhaul {

struct RunOptions;

// A shard, the cases of a worker, or all. Throws InputError for a case that there is not.
WorkPlan chosen_cases(const RunOptions& options, const Scenario& scenario);

// --list-cases: a line each, name, seconds and bytes of memory, run alone.
int list_cases(const Scenario& scenario, const WorkPlan& plan);

}  // namespace longhaul
