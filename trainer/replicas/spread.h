// How far apart the replicas' weights are.
#pragma once

#include "trainer/replicas/arena.h"
#include "trainer/replicas/backend.h"

namespace longhaul {

// Whether all rows that are held here are the same bits.
bool rows_are_equal(const Arena& arena, Slot slot);

// sqrt(mean over replicas and parameters of (θ_i − mean θ)²), in double (NoLoCo, arXiv 2506.10911, section
// 4); exactly 0 where all rows are equal. `mean` [P] receives mean θ. Of an arena in one process;
// ranks/spread_over_ranks.h for any.
double weight_spread(const Arena& arena, Slot slot, Backend& backend, float* mean);

}  // namespace longhaul
