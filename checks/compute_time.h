// How long a run computes, whatever its network does.
#pragma once

#include "core/plan/operations.h"
#include "core/scenario/case.h"

namespace longhaul {

// Seconds of the worker that computes longest in the whole run. 0 where step times are measured, and where
// workers take what comes.
double longest_compute_s(const Case& config, const OperationPlan& plan);

// Throws InputError where that is more than a clock of nanoseconds can say.
void check_compute_time(const Case& config, const OperationPlan& plan);

}  // namespace longhaul
