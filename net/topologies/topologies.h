// The topologies that a scenario can ask for, a file each: from what the scenario says to the graph.
#pragma once

#include "net/topology.h"

namespace longhaul {

// Replicas on access links of rtt / 4 around one router, "core".
Topology build(const StarSpec& star, const Case& one);

// Replicas at the sites of a measured matrix: a router a site, access links of a quarter of the round trip
// inside, and a trunk between every two sites with the rest, so that round trips are exactly the matrix's.
Topology build(const RegionsSpec& regions, const Case& one);

// A star whose access links have a delay of rtt / 2 and rates drawn for each replica: independent log-normal
// variables up and down, from (seed, replica) alone, raised to the floor.
Topology build(const HomesSpec& homes, const Case& one);

// Replicas around a router for each site, as in a star; each site's router on one link to "wan".
Topology build(const HierarchicalSpec& sites, const Case& one);

// A router for each node of a GraphML file and a link for each of its edges; the replicas on access links of
// rtt / 4 at the nodes.
Topology build(const GraphmlSpec& graph, const Case& one);

// Every two replicas on a link of their own. ns-3 wants every link as an object; for the other fidelities the
// topology makes those that are asked for.
Topology build(const MeshSpec& mesh, const Case& one);

}  // namespace longhaul
