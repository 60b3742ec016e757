// The networks on ns-3's clock, by the scenario's network.fidelity: flow and packet.
#pragma once

#include "replay/network/network.h"
#include "replay/replay.h"

namespace longhaul {

// As NetworkMaker says.
std::unique_ptr<Network> make_network(const NetworkSpec& spec, const Topology& topology,
                                      const std::function<std::vector<std::pair<int, int>>()>& used_ends,
                                      std::uint64_t seed);

// A replay on ns-3's simulator, which is one global object: one replay at a time.

// As replay(), over the network of the case: flow, packet, linux or analytic.
Json simulated_replay(const Case& config, const Trace& trace, const std::string& folder,
                      ProgressReporter& reporter, const NetworkMaker& network_of = make_network);

}  // namespace longhaul
