// What a network needs of a graph from a file: names, places, rates and delays. The attributes that are read
// are those of the Internet Topology Zoo, of topohub, and of files of B-JointSP and networkx.
//
// | of a node   | label, name; Latitude and Longitude (lat, lon) in degrees | | of an edge, | LinkSpeedRaw
// (bit/s); LinkFwdCap and LinkBkwdCap; bandwidth, capacity, bw; LinkSpeed with   | | rate        |
// LinkSpeedUnits; a rate in LinkLabel, LinkNote, LinkType or label (link_label.h)             | | delay |
// LinkDelay, latency, delay; dist, a length in km                                             |
//
// Case does not matter. A number without a unit has GraphUnits; a text may have its own ("10 Gbit/s", "5ms").
// Whatever else an edge has is ignored; what looks like a rate, a delay or a loss is counted in `notes`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "net/topologies/great_circle.h"

namespace longhaul {

struct GraphNode {
  std::string name;  // its label or name; "node3" without one, "Oslo#2" the second time; unique
  std::optional<Coordinates> place;
};

struct GraphEdge {
  int first = 0, second = 0;                // nodes
  std::string name;                         // "Oslo-Bergen", the second time "Oslo-Bergen#2"; unique
  std::optional<double> forward, backward;  // bit/s; of one that is written both have it
  std::optional<double> delay_s;            // one way, as written
  std::optional<double> length_km;
  std::string unread;  // its label, where no rate was found
};

struct GraphMap {
  std::vector<GraphNode> nodes;    // in the order of the file
  std::vector<GraphEdge> edges;    // without those from a node to itself
  std::vector<std::string> notes;  // what was assumed, and what was not read: a line each
};

// Of numbers that a file writes without a unit. Unset: Mb/s and milliseconds, and a note says so.
struct GraphUnits {
  std::optional<double> rate, delay_s;
};

// Reads GraphML, or node-link JSON where the text begins with a brace. Throws InputError: naming `file` for
// what is neither, and the node or edge for a value that cannot be.
GraphMap read_graph_map(const std::string& file, const GraphUnits& units = {});

}  // namespace longhaul
