// What a sweep says of one question at all of its points together, in one sentence.
#pragma once

#include <string>
#include <vector>

#include "analysis/comparison/decision.h"

namespace longhaul {

// Every pair that is shown, at how many points, and what would decide the others; where the values are the
// same at all points the sentence of one of them. "" where the question was not asked.
std::string over_points(const std::string& metric, const std::string& question,
                        const std::vector<PointDecisions>& points);

}  // namespace longhaul
