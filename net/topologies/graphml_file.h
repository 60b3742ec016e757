// A graph as GraphML. Undirected, with parallel edges.
//
// Values are taken as text: files of the Internet Topology Zoo declare the same key with different types, and
// a wrong value must be an error that names its node or edge (graph_map.h).
#pragma once

#include <string>

#include "net/topologies/written_graph.h"

namespace longhaul {

// Throws InputError that names `file` for what is not GraphML.
WrittenGraph read_graphml(const std::string& text, const std::string& file);

}  // namespace longhaul
