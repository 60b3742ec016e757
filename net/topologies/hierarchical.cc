#include "net/placement.h"
#include "net/rank_order.h"
#include "net/topologies/topologies.h"

namespace longhaul {

Topology build(const HierarchicalSpec& sites, const Case& one) {
  const Placement placement =
      placed(sites.placement, sites.even, one.replicas, "network.topology.hierarchical.sites");
  Topology topology(one.replicas);
  const int wan = topology.add_router("wan");
  std::vector<int> routers;
  for (const auto& [site, count] : placement) routers.push_back(topology.add_router(site));
  attach_replicas(topology, placement, routers, {sites.inside.up, sites.inside.down, sites.inside.rtt},
                  places_of_ranks(one.network.rank_order, placement, one.seed));
  // A way from site to site crosses two access links of inside.rtt / 4 and two trunks.
  const double trunk_delay_s = (sites.trunk.rtt - sites.inside.rtt) / 4;
  for (const int router : routers)
    topology.add_link(
        {topology.node_name(router) + "-wan", router, wan, sites.trunk.up, sites.trunk.down, trunk_delay_s});
  return topology;
}

}  // namespace longhaul
