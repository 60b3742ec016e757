// The network of fidelity flow for a scenario's `network`.
#pragma once

#include <cstdint>
#include <memory>

#include "core/scenario/case.h"
#include "net/topology.h"
#include "replay/flow/flow_clock.h"
#include "replay/network/network.h"

namespace longhaul {

// `topology` and `clock` must outlive it. `seed`: for random loss, drawn times and what varies.
std::unique_ptr<Network> make_flow_network(const NetworkSpec& spec, const Topology& topology,
                                           FlowClock& clock, std::uint64_t seed);

}  // namespace longhaul
