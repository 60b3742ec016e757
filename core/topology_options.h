// The options of the larger topologies, and of what overrides them. Parts of scenario_options.h.
#pragma once

#include "core/options.h"

namespace longhaul {

Node homes_options();
Node hierarchical_options();
Node graphml_options();
Node rank_order_options();
Node override_options();

}  // namespace longhaul
