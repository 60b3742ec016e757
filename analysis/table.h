// The table at the end of a run, for a terminal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/metrics.h"
#include "core/options.h"

namespace longhaul {

// The cases of a summary (read_summary) as aligned UTF-8 text without colour, one line a case, in at most
// `width` columns: the least important columns are left out until it fits. The best value of a column is
// marked with * where there is a choice: among cases at the same point of the sweep that exchange and differ.
std::string summary_table(const Json& summary, int width);

// The tables of the terminal and the report: which metrics have a column, and what stands in its cells.

// Those that have a column, in the order in which they stand there.
const std::vector<Metric>& columns();

// The value at a dotted path of a record; none where it is missing, null or no number.
std::optional<double> value_at(const Json& record, const std::string& path);

// "" where there is no value.
std::string formatted(const Metric& metric, const std::optional<double>& value);

// Which records hold the best value of `metric`: [record]. Records compete with those of the same seed at the
// same point of the sweep that are done. None is best where fewer than two compete or all are equal.
std::vector<bool> best_values(const std::vector<Json>& records, const Metric& metric);

}  // namespace longhaul
