// replicas/spread.h for rows that are spread over ranks: the same bits on every rank.
#pragma once

#include "trainer/ranks/ranks.h"
#include "trainer/replicas/arena.h"
#include "trainer/replicas/backend.h"

namespace longhaul {

// Whether the rows of all ranks are the same bits.
bool rows_are_equal(Ranks& ranks, const Arena& arena, Slot slot);

// weight_spread of all rows; `mean` [P] receives mean θ on every rank.
double weight_spread(Ranks& ranks, const Arena& arena, Slot slot, Backend& backend, float* mean);

}  // namespace longhaul
