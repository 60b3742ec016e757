// How long the compute of a case takes, in the words of a planner: what no network can make shorter.
#pragma once

#include <string>

#include "core/scenario/case.h"

namespace longhaul {

// "a step computes for 593 ms: at most 3.54 M tokens/s; 47,684 steps take at least 7 h 51 min, 4.02 k
// accelerator-hours". Without tokens what they say is left out; "" where step times are measured.
std::string pace_in_words(const Case& config);

}  // namespace longhaul
