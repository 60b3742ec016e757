// The options that every topology shares: the choice itself, the order of ranks, what overrides links. Parts
// of scenario_options.h.
#pragma once

#include "core/options.h"

namespace longhaul {

Node topology_options(std::vector<Node> sections);
Node rank_order_options(const std::vector<std::string>& without_sites);
Node override_options();

}  // namespace longhaul
