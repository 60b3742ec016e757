// A network as GraphML, in the form of the Internet Topology Zoo: node keys label, Latitude, Longitude; edge
// keys LinkSpeedRaw (bit/s), LinkLabel, LinkNote. Undirected, with parallel edges; other keys are ignored.
//
// Values are taken as text and read here: files of the Zoo declare the same key with different types, and a
// wrong value must be an error that names its node or edge.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace longhaul {

struct Coordinates {
  double latitude = 0, longitude = 0;  // degrees, north and east positive
};

// Kilometres along the great circle, on a sphere of radius 6371 km.
double great_circle_km(const Coordinates& coordinates, const Coordinates& other);

struct GraphmlNode {
  std::string name;  // its label; "node3" without one, "Oslo#2" the second time; unique
  std::optional<Coordinates> place;
};

struct GraphmlEdge {
  int first = 0, second = 0;   // nodes
  std::string name;            // "Oslo-Bergen", the second time "Oslo-Bergen#2"; unique
  std::optional<double> rate;  // bit/s: LinkSpeedRaw, else OC-n = n · 51.84 Mb/s of LinkLabel or LinkNote
};

struct GraphmlGraph {
  std::vector<GraphmlNode> nodes;  // in the order of the file
  std::vector<GraphmlEdge> edges;  // without those from a node to itself
};

// Throws InputError: naming `file` for what is not GraphML, and the node or edge for a value that cannot be.
GraphmlGraph read_graphml_file(const std::string& file);

}  // namespace longhaul
