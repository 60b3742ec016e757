// The table at the end of a run for a terminal, and what the tables of terminal and report share: which
// metrics have a column, and what stands in its cells.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/scenario/metrics.h"

namespace longhaul {

struct TableOptions {
  int width = 0;           // columns of the terminal; 0: as many as the table needs
  bool each_seed = false;  // a line a case also where there are several seeds
  bool all_columns = false;
};

// The cases of a summary (read_summary) as aligned UTF-8 text without colour, one line a case, and below it
// what each column means. It has eight columns, the most important ones, or all; those that do not fit into
// the width are left out. The best value of a column is marked with * where there is a choice: among cases at
// the same point of the sweep that exchange and differ. Where there are several seeds a line is a method at a
// point, means with ± half the width of their 95 % t interval.
std::string summary_table(const Json& summary, const TableOptions& options = {});

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
