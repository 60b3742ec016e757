// How a page becomes one HTML file that opens offline: a template whose names in double braces are filled in.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/json.h"

namespace longhaul {

// The files of analysis/report/ and Chart.js, by name; defined by longhaul_embed.
const std::map<std::string, std::string_view>& report_files();

// One pass over the template: what is filled in is never searched for names. Throws std::out_of_range for a
// name that is not among the parts.
std::string filled_page(std::string_view page, const std::map<std::string, std::string_view>& parts);

// JSON inside a script block. Bytes that are no UTF-8 (a log line in an error) do not cost the page.
std::string script_safe(const Json& json);

std::string html_safe(const std::string& text);

}  // namespace longhaul
