// longhaul report --watch: the page of runs in progress, written anew from what is on disk until they end.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

// Writes `out` every `seconds` (the page reloads itself as often), and once more without reloading when no
// run is in progress any more or on Ctrl-C. Returns the exit status. Throws InputError where no run can be
// read.
int watch_report(const std::vector<std::string>& runs, const std::string& out, double seconds);

}  // namespace longhaul
