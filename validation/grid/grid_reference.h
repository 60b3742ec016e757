// The reference file: packet results of the validation grid, a CSV row a case and seed.
//
// Columns: those of the case (grid_columns), then seed, status, and the times of the exchanges in seconds
// (empty unless the status is "done"). Rows are only ever appended, each with one write under a lock, so that
// several processes may fill a file and a killed one loses the case that it was at.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "validation/grid/grid_run.h"

namespace longhaul {

struct ReferenceRow {
  GridCase grid_case;
  int seed = 1;
  GridOutcome outcome;
};

// A row's case and seed, to know it again.
std::string row_key(const GridCase& grid_case, int seed);

// Empty if there is no such file. Throws RunError for a file with other columns.
std::vector<ReferenceRow> read_reference(const std::string& file);
void append_reference(const std::string& file, const ReferenceRow& row);

// A case with the mean over its seeds.
struct ReferenceCase {
  GridCase grid_case;
  int wanted = 0, done = 0;           // seeds
  std::vector<std::string> failures;  // the status of the others
  std::vector<int> seeds;             // done
  GridTimes mean;                     // over those that are done
};

// In the order of the rows.
std::vector<ReferenceCase> reference_cases(const std::vector<ReferenceRow>& rows);

}  // namespace longhaul
