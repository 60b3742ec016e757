#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "net/topologies/topologies.h"

namespace longhaul {
namespace {

double draw(const LognormalRate& rate, double floor, RandomStream& stream) {
  return std::max(floor, stream.lognormal(std::log(rate.median), rate.sigma));
}

}  // namespace

// A speed test's server stands for the core, so that its round trip is that of one access link; in a star the
// round trip is between two replicas.
Topology build(const HomesSpec& homes, const Case& one) {
  Topology topology(one.replicas);
  const int core = topology.add_router("core");
  for (int i = 0; i < one.replicas; ++i) {
    RandomStream stream(one.seed, Purpose::kAccessRates, static_cast<std::uint32_t>(i));
    const double down = draw(homes.down, homes.floor, stream), up = draw(homes.up, homes.floor, stream);
    topology.add_link({topology.node_name(i) + "-core", i, core, up, down, homes.rtt / 2});
  }
  return topology;
}

}  // namespace longhaul
