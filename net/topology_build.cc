// From a case to its network: the topology as asked for, what the scenario overrides, and the checks that
// every topology must pass.
#include <algorithm>

#include "core/errors.h"
#include "core/index.h"
#include "core/units.h"
#include "net/overrides.h"
#include "net/topologies/registry.h"
#include "net/topology.h"

namespace longhaul {
namespace {

constexpr char kPath[] = "network.topology";

void check_link(const Link& link) {
  for (const double rate : {link.rate_forward, link.rate_backward})
    if (!(rate > 0))
      throw InputError(kPath, "the link " + link.name + " has a rate of " + human_rate(rate),
                       "more than 0 in both directions");
  if (!(link.delay_s >= 0))
    throw InputError(kPath, "the link " + link.name + " has a delay of " + human_duration(link.delay_s),
                     "at least 0");
}

// One node of each part stands for it. A replica hangs on a node that has a name of the user's.
void check_connected(const Topology& topology) {
  const std::vector<int> part_of = topology.parts();
  const int parts = *std::max_element(part_of.begin(), part_of.end()) + 1;
  if (parts == 1) return;
  std::vector<int> members(as_index(parts)), example(members.size(), -1);
  for (int node = topology.nodes() - 1; node >= 0; --node) {
    const auto part = as_index(part_of[as_index(node)]);
    ++members[part];
    if (node >= topology.replicas() || example[part] < 0) example[part] = node;
  }
  std::vector<std::string> words;
  for (std::size_t part = 0; part < example.size(); ++part)
    words.push_back(topology.node_name(example[part]) + " (" + std::to_string(members[part]) +
                    (members[part] == 1 ? " node)" : " nodes)"));
  constexpr std::size_t kMostShown = 8;
  if (words.size() > kMostShown) {
    words.resize(kMostShown);
    words.push_back("...");
  }
  throw InputError(kPath,
                   "no path joins the " + std::to_string(parts) + " parts of the network: that of " +
                       join(words, ", that of "),
                   "a connected graph", "add the links that are missing, or remove the nodes");
}

}  // namespace

Topology build_topology(const Case& one) {
  check_topology(one);
  Topology topology = topology_named(one.network.topology.name).build(one);
  apply_overrides(one.network.overrides, topology);
  for (const Link& link : topology.links()) check_link(link);
  check_connected(topology);
  return topology;
}

}  // namespace longhaul
