// The bootstrap interval of a mean: BCa, bias-corrected and accelerated (Efron, "Better bootstrap confidence
// intervals", JASA 1987), which moves the percentiles for a skewed sample where the plain percentile interval
// does not.
#pragma once

#include <vector>

#include "analysis/statistics.h"

namespace longhaul {

constexpr int kResamples = 9999;

// From kResamples resamples drawn from a fixed seed: the same list gives the same interval. [x, x] where all
// values are the same. Of a list that is not empty.
Interval bootstrap_interval(const std::vector<double>& values, double confidence);

}  // namespace longhaul
