// Which workers of a replay send to each other.
#pragma once

#include <utility>
#include <vector>

#include "core/plan/trace.h"
#include "core/scenario/case.h"

namespace longhaul {

// The ordered pairs of workers that send to each other somewhere in the trace.
std::vector<std::pair<int, int>> used_connections(const Trace& trace, const std::vector<int>& site_of,
                                                  const NetworkSpec& network);

}  // namespace longhaul
