// Files that match a glob.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

// Sorted regular files that match `pattern`; a relative pattern starts in `folder`.
std::vector<std::string> files_matching(const std::string& pattern, const std::string& folder);

}  // namespace longhaul
