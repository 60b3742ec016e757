// The table at the end of a run for a terminal, and what the tables of terminal and report share: which
// metrics have a column, and what stands in its cells.
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
// Where there are several seeds a line is a method at a point, means with ± half the width of their 95 % t
// interval (seed_rows.h); with `each_seed` one a case.
std::string summary_table(const Json& summary, int width, bool each_seed = false);

// The metrics that have a column, in the order of the columns.
const std::vector<Metric>& columns();

// "" where there is no value.
std::string formatted(const Metric& metric, const std::optional<double>& value);

// What stands in the cell of one case: that, or "not reached" of a time to a target that it never reached.
std::string cell_text(const Metric& metric, const Json& record);

// Which records hold the best value of `metric`: [record]. Records compete with those of the same seed at the
// same point of the sweep that are done. None is best where fewer than two compete or all are equal but for
// rounding (rounding_of).
std::vector<bool> best_values(const std::vector<Json>& records, const Metric& metric);

// A sentence for under a table of losses, which are measured on a sample of the held-out text: over how many
// windows they are means, and their standard error as estimates of the loss on the whole held-out part,
// lowest to highest. Empty where no record has one.
std::string sampling_note(const std::vector<Json>& records);

}  // namespace longhaul
