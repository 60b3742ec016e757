// The report: one self-contained HTML file, which opens offline.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/runs/run_directory.h"
#include "core/base/options.h"

namespace longhaul {

// The page for what report_data gives.
std::string report_page(const Json& data);

// The files of analysis/report/ and Chart.js, by name; defined by longhaul_embed.
const std::map<std::string, std::string_view>& report_files();

// How a page becomes one HTML file: the template `name` of `parts`, whose names in double braces are filled
// in with these parts, the title, the data and the colours of `methods` (palette.h). One pass: what is filled
// in is never searched for names. Throws std::out_of_range for a name that is not among the parts.
std::string filled_page(const std::string& name, std::map<std::string, std::string_view> parts,
                        const std::string& title, const Json& data, const std::vector<std::string>& methods);

// Of HTML and XML.
std::string html_safe(const std::string& text);

}  // namespace longhaul
