// The name of a training: cases that train the same bits share one, so that a sweep over networks trains
// once.
#pragma once

#include <string>

#include "core/case.h"

namespace longhaul {

// METHOD and a hash of all that the numerics depend on. Network, step times and options that are declared
// timing_only (core/options.h) are not in it: which collective, which pattern of messages, what overlaps.
std::string training_key(const Case& one);

}  // namespace longhaul
