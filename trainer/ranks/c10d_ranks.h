// Ranks over LibTorch's c10d: Gloo, through host memory, where the rows are.
#pragma once

#include <memory>

#include "trainer/ranks/rank_environment.h"
#include "trainer/ranks/ranks.h"

namespace longhaul {

// Waits until all ranks are there. `patience_s`: how long a rank may keep the others waiting, there and
// later. GLOO_SOCKET_IFNAME names the network interface (default: the one of this machine's name, or loopback
// where MASTER_ADDR is that). Throws RunError that names the ranks which did not come, Interrupted, and
// InputError where this build has no Gloo.
std::unique_ptr<Ranks> make_c10d_ranks(const RankEnvironment& environment, int patience_s);

}  // namespace longhaul
