// The networks on ns-3's clock, by the scenario's network.fidelity: flow and packet.
#pragma once

#include "replay/network/network.h"

namespace longhaul {

// As NetworkMaker says.
std::unique_ptr<Network> make_network(const NetworkSpec& spec, const Topology& topology,
                                      const std::function<std::vector<std::pair<int, int>>()>& used_ends,
                                      std::uint64_t seed);

}  // namespace longhaul
