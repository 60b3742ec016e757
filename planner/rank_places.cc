#include "planner/rank_places.h"

#include <fmt/core.h>

#include <vector>

#include "analysis/text.h"
#include "core/base/index.h"
#include "replay/placement/optimized_order.h"

namespace longhaul {

std::string placement_in_words(const Case& config) {
  const Topology topology = placed_topology(config);
  if (topology.site_of().empty()) return "all nodes are alike: no order of ranks differs from another";
  const std::vector<std::string> names = site_names(topology);
  std::vector<std::vector<int>> ranks(names.size());
  for (int node = 0; node < topology.replicas(); ++node)
    ranks[as_index(topology.site_of()[as_index(node)])].push_back(node);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (!ranks[i].empty()) words.push_back(names[i] + ": " + ranges_in_words(ranks[i]));
  const int stages = config.pipeline.stages;
  return join(words, "; ") +
         (stages > 1 ? fmt::format(" (rank {} r + s is stage s of replica r)", stages) : "");
}

}  // namespace longhaul
