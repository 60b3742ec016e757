// The words that all forms of a comparison share.
#pragma once

#include <string>

#include "analysis/comparison/comparison.h"

namespace longhaul {

// "better", "worse", "higher", "lower", "no difference shown".
std::string outcome_word(Comparison::Outcome outcome);
// "paired", "welch", "fisher", "" where nothing was tested.
std::string test_name(Comparison::Test test);

// "network.tcp.connections = 1, and 1 more point with the same values".
std::string row_text(const ComparisonRow& row);

// "2.4425", or "never", "reached by 3 of 5"; "–" without a value.
std::string mean_text(const Metric& metric, const Group& group);
// "[2.4312, 2.4538]"; "" where there is no mean or a single seed.
std::string interval_text(const Metric& metric, const Group& group);

// "difference -0.0121 [-0.0200, -0.0042], 5 pairs, p = 0.0031"
std::string grounds_text(const Metric& metric, const Comparison& comparison);

// What the metric is and which way is better.
std::string metric_text(const Metric& metric);

// How the intervals and p values are made.
std::string method_note(const ComparisonTable& table);

}  // namespace longhaul
