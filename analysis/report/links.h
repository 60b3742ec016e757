// The links of one case that carried most.
#pragma once

#include <string>

#include "core/options.h"

namespace longhaul {

// {"total_bytes", "used", "busiest": [{"link", "direction", "bytes", "busy_s"}]}: at most `count` directions
// of links by bytes on the wire, most first; `used` counts the directions that carried anything. Null without
// links.csv.
Json busiest_links(const std::string& case_folder, std::size_t count);

}  // namespace longhaul
