// What a run found, in sentences for people. They say what was measured and nothing more.
#pragma once

#include <string>
#include <vector>

#include "core/options.h"

namespace longhaul {

// About the cases at one point of a sweep, which may be compared; averages over seeds where there are
// several. Cases that are not done are left out. Empty if nothing is done.
std::vector<std::string> findings(const std::vector<Json>& records);

}  // namespace longhaul
