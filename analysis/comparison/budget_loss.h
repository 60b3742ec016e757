// Budget losses among the metrics of a comparison.
#pragma once

#include <string>
#include <vector>

#include "analysis/runs/run_directory.h"

namespace longhaul {

// The loss that a case has reached within a budget is a metric of a comparison by name: "loss@10min" of
// simulated time, "loss@5GB" of what one replica has sent. So methods are compared at equal time or equal
// bytes on trainings that went on for longer.
//
// Puts those among `metrics` into the records of all cases that are done, at their
// paths. Of a case that was not evaluated within its budget, or trained nothing, there is none: the notes say
// of which, and why. Throws InputError (--metric) for a budget that is neither a time nor a number of bytes,
// and where no case has a loss within it.
std::vector<std::string> add_budget_losses(const std::vector<std::string>& metrics,
                                           std::vector<RunDirectory>& runs);

}  // namespace longhaul
