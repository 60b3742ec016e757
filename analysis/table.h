// The table at the end of a run, for a terminal.
#pragma once

#include <string>

#include "core/options.h"

namespace longhaul {

// The cases of a summary (read_summary) as aligned UTF-8 text without colour, one line a case, in at most
// `width` columns: the least important columns are left out until it fits. The best value of a column is
// marked with * where there is a choice: among cases at the same point of the sweep that exchange and differ.
std::string summary_table(const Json& summary, int width);

}  // namespace longhaul
