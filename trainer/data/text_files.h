// Text files as byte tokens.
#pragma once

#include <string>
#include <vector>

#include "core/hash.h"
#include "trainer/data/token_text.h"

namespace longhaul {

// The bytes of the files, one after the other. The hash goes on from `hash`: that of what was read before.
// Throws RunError for a file that cannot be read.
TokenText read_bytes(const std::vector<std::string>& files, std::uint64_t hash = kFnvOffset);

// The files of all patterns, each sorted. Throws InputError, path PATH[i], for a pattern that matches
// nothing.
std::vector<std::string> files_of(const std::vector<std::string>& globs, const std::string& folder,
                                  const std::string& path);

}  // namespace longhaul
