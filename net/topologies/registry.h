// All topologies there are, by the names that a scenario uses.
#pragma once

#include <string>
#include <vector>

#include "core/scenario_options.h"
#include "net/topologies/topology_kind.h"

namespace longhaul {

// In the order of the schema and the lists.
const std::vector<TopologyKind>& topologies();

// Throws InputError at network.topology naming the nearest for a name that does not exist.
const TopologyKind& topology_named(const std::string& name);

// For scenario_options().
TopologyOptions topology_options();

// "regions, hierarchical or graphml": what to take where a setting needs sites.
std::string topologies_with_sites();

// All that can be wrong about the topology of a case and what stands beside it in the section network,
// without reading a file. Throws InputError (JSON path, without a file).
void check_topology(const Case& one);

}  // namespace longhaul
