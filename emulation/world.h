// The world of an emulated case as a shell script: a network namespace for each worker with a TUN device, a
// token bucket of its link's rate, and a relay between them that has all the rest of the network
// (delay_relay.h); and its replay there, on the real clock (kernel_network.h).
//
// The script makes mount, process and network namespaces of its own first, as root or in a user namespace.
// Nothing outside is touched, and all of it goes with the process that started the script, however that ends.
#pragma once

#include <string>

#include "core/scenario/case.h"
#include "net/topology.h"

namespace longhaul {

// Throws InputError (JSON path, without a file) for what of a case no world has: what the scenario changes
// with time, losses, other queues than the sender's, a congestion control that this kernel lacks, ...
// `topology`: placed_topology() of the case.
void check_emulated(const Case& config, const Topology& topology);

// world.sh COMMAND...          runs the command for each worker, with RANK, WORLD_SIZE and MASTER_ADDR set
// world.sh --once COMMAND...   runs it once, beside the hosts
// `longhaul`: the path of the program that has the relay.
std::string world_script(const Case& config, const Topology& topology, const std::string& longhaul);

}  // namespace longhaul
