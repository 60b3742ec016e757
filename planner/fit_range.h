// What a fit of the plan's network leaves open: the plan's section `fit`, which longhaul fit has written into
// a scenario, has the ends of the principal axes of what was found.
#pragma once

#include "planner/evaluation.h"
#include "planner/plan_request.h"
#include "planner/replay_task.h"

namespace longhaul {

// Seconds by which the time of `choice` may be off, at the fit's confidence: the root of the sum of squares,
// over the axes, of half the difference between both ends, each of them replayed. 0 without a section `fit`.
// Of the unknowns those of the network count. Throws InputError where the plan has no network of its own.
double fit_half_width_s(const PlanRequest& plan, const Evaluation& choice, const PlanTools& tools);

}  // namespace longhaul
