// The exchanges of the speed benchmark on SimGrid, set so that it shares links as we do (plain max-min: no
// latency factor, no TCP window, no cross-traffic, no weights by latency).
#pragma once

#include <vector>

namespace longhaul {

struct StarLeaf {
  double rate = 0;     // bit/s of payload, each way
  double delay_s = 0;  // of the access link
};

// Processor time, seconds, of the simulation proper, without the platform's set-up, in a process of its own:
// SimGrid's engine is one global object. Negative if that failed.
double simgrid_ring_s(const std::vector<StarLeaf>& leaves, double bytes_per_message);
double simgrid_all_to_all_s(const std::vector<StarLeaf>& leaves, double bytes_per_message);

}  // namespace longhaul
