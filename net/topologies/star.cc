#include "net/topologies/topologies.h"

namespace longhaul {

Topology build(const StarSpec& star, const Case& one) {
  Topology topology(one.replicas);
  const int core = topology.add_router("core");
  for (int i = 0; i < one.replicas; ++i)
    topology.add_link({topology.node_name(i) + "-core", i, core, star.up, star.down, star.rtt / 4});
  return topology;
}

}  // namespace longhaul
