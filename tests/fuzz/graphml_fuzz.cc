// Maps of networks.
#include <cmath>

#include "net/topologies/graph_map.h"
#include "tests/fuzz/fuzz.h"

void longhaul::read_input(const std::string& input) {
  const GraphMap graph = read_graph_map(file_with("map.graphml", input));
  for (const GraphEdge& edge : graph.edges) {
    const auto &first = graph.nodes.at(static_cast<std::size_t>(edge.first)),
               &second = graph.nodes.at(static_cast<std::size_t>(edge.second));
    if (edge.forward.has_value() != edge.backward.has_value()) abort();
    if (edge.forward && !(*edge.forward > 0 && *edge.backward > 0)) abort();
    if (edge.delay_s && !(*edge.delay_s >= 0)) abort();
    if (first.place && second.place && !std::isfinite(great_circle_km(*first.place, *second.place))) abort();
  }
}
