// What a reader must know before taking "no difference shown" for "no difference".
#pragma once

#include <string>
#include <vector>

#include "analysis/comparison/comparison.h"

namespace longhaul {

// Sentences on comparisons that the seeds are too few for: which effect they would have found in four cases
// of five, and with how many seeds one of kFindableEffect standard deviations would be. None where they
// suffice.
constexpr double kFindableEffect = 3;  // standard deviations of a difference
constexpr double kPower = 0.8;

std::vector<std::string> power_notes(const ComparisonTable& table);

}  // namespace longhaul
