// A graph as its file has it: nodes and edges with attributes, each value as its text.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace longhaul {

using Attributes = std::map<std::string, std::string>;

struct WrittenGraph {
  struct Edge {
    std::size_t first = 0, second = 0;  // of nodes
    Attributes attributes;
  };
  std::vector<Attributes> nodes;
  std::vector<Edge> edges;
};

}  // namespace longhaul
