// What a reader must know before taking "no difference shown" for "no difference".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/comparison/comparison.h"

namespace longhaul {

// Sentences on comparisons that the seeds are too few for: which effect they would have found in four cases
// of five (kPower), and how many seeds would find one of three standard deviations. None where they suffice.
std::vector<std::string> power_notes(const ComparisonTable& table);

// How many seeds find a difference of three standard deviations in a family of so many tests.
std::size_t seeds_for_a_large_difference(std::size_t tests);

}  // namespace longhaul
