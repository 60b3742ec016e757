// Several seeds of one method at one point of a sweep as one row of a table: means with the half width of
// their 95 % t interval. The terminal's table and the report's have the same cells.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/scenario/metrics.h"

namespace longhaul {

struct SeedRow {
  std::string variant;               // of the method
  std::string point;                 // sweep_point()
  std::vector<std::size_t> indices;  // of the records
  std::vector<const Json*> done;     // those of them that are; they live in the records
};

// In the order of the first record of each.
std::vector<SeedRow> seed_rows(const std::vector<Json>& records);

// A record that holds the means of what all done seeds have, to compete for the best (best_values).
Json means_record(const SeedRow& row);

// Half the width of the 95 % t interval of the mean; 0 where seeds differ by rounding alone, or there is one.
double half_width(const std::vector<double>& values);

// "2.150 ± 0.011", "9.48 ± 0.01 s", "10 min 45 s ± 6.9 min": a time as everywhere (human_duration), a number
// and its half width in one unit; "2.150 s" where the half width is below the last digit. "12 min 3 s (2 of 3
// seeds)" of what some seeds lack; "not reached" of a target that none reached; "" without any.
std::string mean_cell(const SeedRow& row, const Metric& metric);
std::string with_half_width(const Metric& metric, double mean, double half);

}  // namespace longhaul
