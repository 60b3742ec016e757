// Links and nodes of a topology by their names, for options that address them.
#pragma once

#include <string>
#include <vector>

#include "net/topology.h"

namespace longhaul {

// Numbers of the links whose name is `pattern` or matches it as a shell glob, in ascending order. Throws
// InputError (of the JSON path `path`) with the nearest name if there is none.
std::vector<int> links_named(const Topology& topology, const std::string& pattern, const std::string& path);

// The number of the node of that name: a replica ("replica3") or a router. Throws InputError likewise.
int node_named(const Topology& topology, const std::string& name, const std::string& path);

}  // namespace longhaul
