// A graph as node-link JSON, in the form of networkx and of topohub (1.5.1): "nodes" with an "id", "edges"
// (or "links") with "source" and "target", and attributes.
#pragma once

#include <string>

#include "net/topologies/written_graph.h"

namespace longhaul {

// `pos`, which topohub writes as [longitude, latitude], becomes Longitude and Latitude, unless one of the
// file is no place in degrees: topohub's group gabriel has kilometres on a plane there. An id that is a text
// is the name of a node without one. Throws InputError that names `file` and the node or edge.
WrittenGraph read_node_link(const std::string& text, const std::string& file);

}  // namespace longhaul
