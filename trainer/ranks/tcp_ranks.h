// Ranks over TCP, through host memory. They meet in a store, by which the one that fails first says why.
#pragma once

#include <memory>

#include "trainer/ranks/rank_environment.h"
#include "trainer/ranks/rank_store.h"
#include "trainer/ranks/ranks.h"

namespace longhaul {

// Waits until all ranks are connected. `patience_s`: how long a rank may keep the others waiting, there and
// later. Throws RunError that names the ranks which did not come or are not reachable, and Interrupted.
std::unique_ptr<Ranks> make_tcp_ranks(const RankEnvironment& environment, int patience_s,
                                      std::unique_ptr<RankStore> store);

}  // namespace longhaul
