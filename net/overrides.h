// What a scenario changes of a topology once it is built (network.overrides): one slow link, one slow
// replica.
#pragma once

#include <string>
#include <vector>

#include "net/topology.h"

namespace longhaul {

// In order, the last one wins. Throws InputError for a link that is not there, naming the nearest ones, and
// for a rate of 0 or a negative delay, naming the link.
void apply_overrides(const std::vector<LinkOverride>& overrides, Topology& topology);

// Links and nodes of a topology by their names, for options that address them.

// Numbers of the links whose name is `pattern` or, without such, matches it as a shell glob (names of GraphML
// may hold brackets), in ascending order. Throws InputError (of the JSON path `path`) with the nearest name
// if there is none.
std::vector<int> links_named(const Topology& topology, const std::string& pattern, const std::string& path);

// The number of the node of that name: a replica ("replica3") or a router. Throws InputError likewise.
int node_named(const Topology& topology, const std::string& name, const std::string& path);

}  // namespace longhaul
