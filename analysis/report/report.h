// The report: one self-contained HTML file, which opens offline.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

// The page for one or several run directories. A directory that is no run, or of a newer format, is named on
// the page where there are others; throws RunError where there are none.
std::string report_html(const std::vector<std::string>& run_folders);

}  // namespace longhaul
