// The exchanges of the speed benchmark on SimGrid, set so that it shares links as we do (plain max-min: no
// latency factor, no TCP window, no cross-traffic, no weights by latency).
#pragma once

#include <vector>

#include "bench/speed_cases.h"

namespace longhaul {

// Processor time, seconds, of the simulation proper, without the platform's set-up. Once in a process: SimGrid's
// engine is one global object.
double simgrid_ring_s(const std::vector<SpeedLeaf>& leaves, double bytes_per_message);
double simgrid_all_to_all_s(const std::vector<SpeedLeaf>& leaves, double bytes_per_message);

}  // namespace longhaul
