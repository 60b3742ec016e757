// A plan from its request to its files: what `longhaul plan` and the page of the planner (browser/) share.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "core/scenario/case.h"
#include "planner/plan_request.h"
#include "planner/plan_result.h"
#include "planner/planned_network.h"
#include "planner/replay_task.h"

namespace longhaul {

// Searches, and asks about the choice. `folder` is where the network's files stand. An interrupt ends it with
// the best until then, once there is one; before, Interrupted is thrown. Throws InputError, RunError.
PlanResult make_plan(const PlanRequest& plan, const PlannedNetwork& network, const PlanTools& tools,
                     const std::string& folder);

// plan.json, scenario.json, plan.html and launch.sh by name. `planner_page`: the address of the page on which
// the user may change the plan (browser/), to which plan.html has a link; "": none.
std::map<std::string, std::string> plan_files(const PlanRequest& plan, const PlanResult& result,
                                              const std::string& planner_page = "");

// The only case of a scenario, read and checked by `validated` as a file of this folder, which is gone
// afterwards; an error names no file.
Case checked_candidate(const Json& scenario, const std::string& folder,
                       const std::function<Case(const std::string& file)>& validated);

}  // namespace longhaul
