// The option of methods whose slow replicas take fewer inner steps in a round (core/plan/dynamic_steps.h).
#pragma once

#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/plan/operations.h"
#include "core/scenario/case.h"

namespace longhaul {

// `dynamic_steps`, beside `inner_steps`: of a method with all its rules at the end of a round.
Node dynamic_steps_option();
// Those of the case, by its step_time_factors: what else slows a replica down, as faults or drawn step times,
// is not known beforehand. Off for a method without the option.
DynamicSteps dynamic_steps_of(const Case& config);
// Where they change nothing, and where one step of a replica takes longer than the fastest's whole round.
std::vector<std::string> dynamic_steps_warnings(const Case& config);

}  // namespace longhaul
