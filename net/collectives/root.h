// The group average of the NoLoCo authors' code: each tensor goes to the first member of the group and its
// average comes back, one tensor after the other. With two tensors (Δ and φ) and n = 2 that is four messages
// in series, where a symmetric exchange needs one.
//
// A member other than the root sends B, the root (n−1) · B.
// Idle star, exact: 2 · tensors · latency + 2(n−1) · B / rate; the root's link carries everything.
#pragma once

#include "net/collectives/collective.h"

namespace longhaul {

std::unique_ptr<Collective> make_root();

}  // namespace longhaul
