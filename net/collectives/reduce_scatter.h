// Ring reduce-scatter: member m ends up with part m of the sum of all contributions. The first half of a ring
// all-reduce, and how ZeRO-3 reduces its gradients.
//
// Part i is bytes floor(iB/n) … floor((i+1)B/n). In round k of n − 1 member m sends part m − 1 − k, added up
// so far, to its successor. Each member sends about (n−1)/n · B. Idle star, exact up to the rounding of
// parts: (n−1) · (latency + (B/n) / rate). In S slices, exact: latency + c / rate + (n−2) · max(c / rate,
// latency + (c/S) / rate) with c = B/n.
#pragma once

#include "net/collectives/collective.h"

namespace longhaul {

std::unique_ptr<Collective> make_reduce_scatter();

}  // namespace longhaul
