// Steps of nodes that compute for longer at one site than at another.
#pragma once

#include <functional>

#include "core/scenario/case.h"
#include "planner/evaluation.h"
#include "planner/plan_request.h"

namespace longhaul {

// Gives each rank of a candidate the step of the site where it stands, which is known once ranks have places:
// the scenario and the case get workload.step_time_factors, with the order of ranks as it was found. With
// batches by speed its steps are as long as its share of the tokens makes them. Where
// slow replicas take fewer steps of a round, more rounds make up for their tokens.
void give_steps_to_ranks(const PlanRequest& plan, const std::function<Case(const Json&)>& validated,
                         Evaluation& evaluation);

// Compute of one worker in the whole training, in steps of the plan's slowest node.
double computed_steps(const Case& config, int rank);

// The same of the replica that computes for longest, of stages the mean over its workers: no training is
// shorter.
double longest_compute(const Case& config);

}  // namespace longhaul
