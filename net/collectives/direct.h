// Direct all-reduce: each member reduces 1/n of the vector, all to all.
//
// The vector is cut into n parts, part i being bytes floor(iB/n) … floor((i+1)B/n), owned by member i. In the
// first round everyone sends its share of each part to the owner, in the second the owner sends the result to
// all. Each member sends 2(n−1)/n · B, as in a ring, but in two rounds; n(n−1) transfers run at once.
// Idle star, exact up to the rounding of parts: 2 · (latency + (n−1)/n · B / rate). In S slices, exact:
// latency + q + max(q, latency + q/S) with q = (n−1)/n · B / rate.
#pragma once

#include "net/collectives/collective.h"

namespace longhaul {

std::unique_ptr<Collective> make_direct();

}  // namespace longhaul
