// A replay on ns-3's simulator, which is one global object: one replay at a time.
#pragma once

#include "replay/replay.h"
#include "sim/network/make_network.h"

namespace longhaul {

// As replay(), over the network of the case: flow, packet or analytic.
Json simulated_replay(const Case& one, const Trace& trace, const std::string& folder,
                      ProgressReporter& reporter, const NetworkMaker& network_of = make_network);

}  // namespace longhaul
