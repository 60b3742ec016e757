// longhaul check: validates only; prints the resolved scenario, the cases, and an estimate of time, memory
// and disk.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

int check_command(const std::string& scenario_file, const std::vector<std::string>& assignments);

}  // namespace longhaul
