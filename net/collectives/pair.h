// The average of a small group, as NoLoCo's paper describes it: two replicas send each other their whole
// contribution at once and both average; a larger group runs a ring among its members.
//
// n = 2: each sends B. Idle star, exact, in slices or not: latency + B / rate. n > 2: as ring.
#pragma once

#include "net/collectives/collective.h"

namespace longhaul {

std::unique_ptr<Collective> make_pair_average();

}  // namespace longhaul
