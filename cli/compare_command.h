// longhaul compare RUN...: means over seeds, and for each pair whether a difference is shown.
#pragma once

#include <string>
#include <vector>

#include "analysis/comparison/comparison.h"

namespace longhaul {

struct CompareOptions {
  std::vector<std::string> runs;
  ComparisonRequest request;
  std::string format;  // text, markdown, csv, json; "": by the ending of `out`, else text
  std::string out;     // "": standard output
};

// What cannot be read is named on standard error and the rest compared. Throws InputError where nothing is
// left.
int compare_command(const CompareOptions& options);

}  // namespace longhaul
