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

// Several seeds of one method at one point of a sweep as one row of a table: means with the half width of
// their 95 % t interval. The terminal's table and the report's have the same cells.
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
