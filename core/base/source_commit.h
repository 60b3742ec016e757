// The commit that the programs were built from (cmake/SourceCommit.cmake).
#pragma once

namespace longhaul {

// "1a2b3c4d5e6f", or with its tag as `git describe` says; with "-dirty" where tracked files differed from it.
// "unknown" outside a git checkout.
const char* source_commit();

}  // namespace longhaul
