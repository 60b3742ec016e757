// How a page becomes one HTML file that opens offline: a template whose names in double braces are filled in.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/json.h"

namespace longhaul {

// The files of analysis/report/ and Chart.js, by name; defined by longhaul_embed.
const std::map<std::string, std::string_view>& report_files();

// The template `name` of `parts` with these parts, the title, the data and the palette. One pass: what is filled
// in is never searched for names. Throws std::out_of_range for a name that is not among the parts.
std::string filled_page(const std::string& name, std::map<std::string, std::string_view> parts,
                        const std::string& title, const Json& data);

// Of HTML and XML.
std::string html_safe(const std::string& text);

}  // namespace longhaul
