// Group average tensor by tensor: everybody sends its tensor to all others of the group and begins the next
// one when all of this one has arrived, its own included. With Δ and φ and n = 2 that is two message times in
// series, each the longer of the two directions: the 2 · max(t1, t2) that the NoLoCo paper counts for a pair
// (arXiv 2506.10911), where the symmetric exchange `pair` needs one.
//
// A member sends (n − 1) · B. Idle star, exact: tensors · latency + (n − 1) · B / rate.
#pragma once

#include "net/collectives/collective.h"

namespace longhaul {

std::unique_ptr<Collective> make_serial_pair();

}  // namespace longhaul
