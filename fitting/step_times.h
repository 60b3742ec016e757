// A scenario's step time from steps that were observed: it needs no replay.
#pragma once

#include <vector>

#include "fitting/fit.h"

namespace longhaul {

// Takes workload.step_time.constant, .lognormal.mean, .lognormal.mu and .lognormal.sigma out of `unknowns`,
// and returns what the observed seconds of computing say of them, at kFitConfidence. constant: their mean
// (Student's t). mu and sigma: mean and standard deviation of the logarithm (Student's t, chi squared). mean:
// exp(mu + sigma²/2) with Cox's interval (Land 1972, Technometrics 14(1)). A step that is the mean of several
// counts as so many that are independent; of such steps mu and sigma follow from mean and variance. Without
// observations it takes nothing. Throws InputError for one observation alone.
std::vector<FittedValue> values_from_steps(std::vector<Unknown>& unknowns,
                                           const std::vector<ObservedTime>& steps);

}  // namespace longhaul
