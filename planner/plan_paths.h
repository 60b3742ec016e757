// Mistakes of a candidate's scenario, said of the plan file that it was made from: the user has not written
// `replicas` or `methods[0]`, but `nodes` and `candidates.methods[1]`.
#pragma once

#include <string>

#include "core/base/errors.h"
#include "planner/candidates.h"
#include "planner/plan_request.h"

namespace longhaul {

// The key of the plan from which a path of the candidate's scenario got its value: "replicas" is "nodes", or
// "sites[].nodes" where the sites alone have a number. A path that both have, and one of the plan, stays.
std::string path_in_plan(const std::string& path, const PlanRequest& plan, const Candidate& candidate);

// The same error with its paths, and those that its words name, as the plan has them.
InputError in_plan(const InputError& error, const PlanRequest& plan, const Candidate& candidate);

}  // namespace longhaul
