// Maps of networks.
#include <cmath>

#include "net/topologies/graphml_file.h"
#include "tests/fuzz/fuzz.h"

void longhaul::read_input(const std::string& input) {
  const GraphmlGraph graph = read_graphml_file(file_with("map.graphml", input));
  for (const GraphmlEdge& edge : graph.edges) {
    const auto &first = graph.nodes.at(static_cast<std::size_t>(edge.first)),
               &second = graph.nodes.at(static_cast<std::size_t>(edge.second));
    if (edge.rate && !(*edge.rate > 0)) abort();
    if (first.place && second.place && !std::isfinite(great_circle_km(*first.place, *second.place))) abort();
  }
}
