// `longhaul claims`: the verdict matrices of runs, as Markdown.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

// To `out`, or to standard output if that is empty. Runs of the same scenario (the shards of one) are judged
// together. Throws InputError, RunError.
int claims_command(const std::vector<std::string>& runs, const std::string& out);

}  // namespace longhaul
