// Ring all-reduce: reduce-scatter, then all-gather, around the ring 0 → 1 → … → n − 1 → 0.
//
// The vector is cut into n chunks, chunk i being bytes floor(iB/n) … floor((i+1)B/n). In round k of the first
// n − 1 member m sends chunk m − k, added up so far, to its successor; in round k of the second n − 1 it
// passes on the finished chunk m + 1 − k. Each member sends about 2(n−1)/n · B. Idle star, exact up to the
// rounding of chunks: 2(n−1) · (latency + (B/n) / rate). In S slices, exact: latency + c / rate +
// (2(n−1) − 1) · max(c / rate, latency + (c/S) / rate) with c = B/n: a member begins a round when it has sent
// the one before, but not before the first slice of it has come.
#pragma once

#include "net/collectives/collective.h"

namespace longhaul {

std::unique_ptr<Collective> make_ring();

}  // namespace longhaul
