// Comparisons as Markdown, rounded for people, and as JSON, every number in full.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/comparison/comparison.h"

namespace longhaul {

// As GitHub's Markdown, and as JSON (docs/reference/formats/exports.md).
std::string comparison_markdown(const ComparisonTable& table);
Json comparison_json(const ComparisonTable& table);

// "2.4425", or "never reached", "reached by 3 of 5"; "–" without a value.
std::string mean_text(const Metric& metric, const Group& group);

// "[2.4312, 2.4538]"; "in every seed" where no seed changes it; "" where there is no mean or a single seed.
std::string interval_text(const Metric& metric, const Group& group);

// "about 9 seeds would decide", "about 5 to 40 seeds would decide", of Comparison::seeds_needed; "" of none.
std::string seeds_that_decide(const std::vector<std::size_t>& seeds);

}  // namespace longhaul
