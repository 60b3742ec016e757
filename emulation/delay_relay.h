// The wide area between the hosts of a world: every IP packet travels the path of its two ends, over links
// that delay it and have a rate. A queue before a link has room for everything; each link loses packets at
// random.
//
// The rate of a sender's own link is not the relay's: the token bucket of its host has it, so that TCP sees
// its own queue (fidelity `flow` with queue `host`).
#pragma once

#include <cstdint>

#include "net/topology.h"

namespace longhaul {

// Opens the device `wan` of each host's namespace (host.h) and leaves a process behind that relays between
// them as long as the world stands. `loss` of a packet on each link, drawn from `seed`. Throws RunError.
void start_relay(const Topology& topology, double loss, std::uint64_t seed);

}  // namespace longhaul
