// How far apart the replicas' weights are.
#pragma once

#include <vector>

#include "trainer/ranks/ranks.h"
#include "trainer/replicas/arena.h"
#include "trainer/replicas/backend.h"

namespace longhaul {

// In both `replicas`, ascending, says of whose rows.

// Whether the rows are the same bits, on whatever ranks they are; then `row` [P] is one of them, on all
// ranks.
bool rows_are_equal(Ranks& ranks, const Arena& arena, Slot slot, const std::vector<int>& replicas,
                    float* row);

// sqrt(mean over replicas and parameters of (θ_i − mean θ)²), in double (NoLoCo, arXiv 2506.10911, section
// 4); exactly 0 where all rows are equal. `mean` [P] receives mean θ. Every rank gets the same bits, those of
// one process.
double weight_spread(Ranks& ranks, const Arena& arena, Slot slot, const std::vector<int>& replicas,
                     Backend& backend, float* mean);

}  // namespace longhaul
