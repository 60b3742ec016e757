// A comparison as Markdown and JSON. docs/reference/formats/exports.md describes the latter.
#pragma once

#include <string>

#include "analysis/comparison/comparison.h"

namespace longhaul {

std::string comparison_markdown(const ComparisonTable& table);  // GitHub's
Json comparison_json(const ComparisonTable& table);

// "2.4425", or "never reached", "reached by 3 of 5"; "–" without a value.
std::string mean_text(const Metric& metric, const Group& group);
// "[2.4312, 2.4538]"; "in every seed" where no seed changes it; "" where there is no mean or a single seed.
std::string interval_text(const Metric& metric, const Group& group);

}  // namespace longhaul
