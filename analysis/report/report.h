// The report: one self-contained HTML file, which opens offline.
#pragma once

#include <string>
#include <vector>

#include "core/options.h"

namespace longhaul {

// The page for what report_data gives.
std::string report_page(const Json& data);

// The page for one or several run directories; throws as report_data.
std::string report_html(const std::vector<std::string>& run_folders);

}  // namespace longhaul
