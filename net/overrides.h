// What a scenario changes of a topology once it is built (network.overrides): one slow link, one slow
// replica.
#pragma once

#include <vector>

#include "net/topology.h"

namespace longhaul {

// In order, the last one wins. Throws InputError for a link that is not there, naming the nearest ones, and
// for a rate of 0 or a negative delay, naming the link.
void apply_overrides(const std::vector<LinkOverride>& overrides, Topology& topology);

}  // namespace longhaul
