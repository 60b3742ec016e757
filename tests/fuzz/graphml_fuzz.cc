// Maps of networks.
#include <cmath>

#include "net/topologies/graphml_file.h"
#include "tests/fuzz/fuzz.h"

using namespace longhaul;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return allow_errors([&] {
    const GraphmlGraph graph = read_graphml_file(file_with("map.graphml", text_of_input(data, size)));
    for (const GraphmlEdge& edge : graph.edges) {
      const auto &first = graph.nodes.at(static_cast<std::size_t>(edge.first)),
                 &second = graph.nodes.at(static_cast<std::size_t>(edge.second));
      if (edge.rate && !(*edge.rate > 0)) abort();
      if (first.place && second.place && !std::isfinite(great_circle_km(*first.place, *second.place)))
        abort();
    }
  });
}
