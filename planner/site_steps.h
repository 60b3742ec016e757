// Steps of nodes that compute for longer at one site than at another.
#pragma once

#include <functional>

#include "planner/choice.h"

namespace longhaul {

// Gives each rank of a candidate the step of the site where it stands, which is known once ranks have places: the
// scenario and the case get workload.step_time_factors, with the order of ranks as it was found. Where slow
// replicas take fewer steps of a round, more rounds make up for their tokens.
void give_steps_to_ranks(const PlanRequest& plan, const std::function<Case(const Json&)>& validated,
                         Evaluation& evaluation);

// The share of a case's steps that a replica takes: below 1 with dynamic steps.
double taken_share(const Case& config, std::size_t rank);

// Compute of a step, in slowest steps, of the replica that computes for longest in a round.
double longest_share(const Case& config);

}  // namespace longhaul
