// Finding and reading files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/errors.h"

namespace longhaul {

// Sorted regular files that match the glob `pattern`; a relative pattern starts in `folder`.
std::vector<std::string> files_matching(const std::string& pattern, const std::string& folder);

// The whole of a file; none where it cannot be read or is a folder.
std::optional<std::string> read_file(const std::string& file);

// Why it cannot be read, as people say it: "is a folder", "does not exist", "cannot be read".
std::string why_unreadable(const std::string& file);

// Whether it is the name of a file in a folder, and leads nowhere else: not empty, without '/', not "..".
bool is_file_name(const std::string& name);

// To throw where writing `file` has failed, with the reason that the system has left in errno; where its lock
// cannot be had for a `reason` of errno's.
RunError unwritable(const std::string& file);
RunError unlockable(const std::string& file, int reason);

}  // namespace longhaul
