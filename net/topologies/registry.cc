#include "net/topologies/registry.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/units.h"
#include "net/library.h"
#include "net/overrides.h"

namespace longhaul {

// Each is defined in the file of its name.
TopologyKind star_topology();
TopologyKind mesh_topology();
TopologyKind regions_topology();
TopologyKind homes_topology();
TopologyKind hierarchical_topology();
TopologyKind graphml_topology();

const std::vector<TopologyKind>& topologies() {
  static const std::vector<TopologyKind> all = {star_topology(),         mesh_topology(),
                                                regions_topology(),      homes_topology(),
                                                hierarchical_topology(), graphml_topology()};
  return all;
}

namespace {

constexpr char kTopologyPath[] = "network.topology";

std::vector<std::string> names(bool has_sites) {
  std::vector<std::string> names;
  for (const TopologyKind& kind : topologies())
    if (kind.has_sites == has_sites) names.push_back(kind.name());
  return names;
}

// Silence would let a user believe that an order without effect was tried.
void check_rank_order(const RankOrderSpec& order, const TopologyKind& kind) {
  if (order.kind == RankOrderSpec::Kind::kBlocks || kind.has_sites) return;
  throw InputError("network.rank_order",
                   fmt::format("found \"{}\" on a topology without sites", to_string(order.kind)),
                   "\"blocks\", or the topology " + topologies_with_sites(), kind.why_no_order);
}

void check_link(const Link& link) {
  for (const double rate : {link.rate_forward, link.rate_backward})
    if (!(rate > 0))
      throw InputError(kTopologyPath,
                       fmt::format("the link {} has a rate of {}", link.name, human_rate(rate)),
                       "more than 0 in both directions");
  if (!(link.delay_s >= 0))
    throw InputError(kTopologyPath,
                     fmt::format("the link {} has a delay of {}", link.name, human_duration(link.delay_s)),
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
    words.push_back(fmt::format("{} ({} node{})", topology.node_name(example[part]), members[part],
                                members[part] == 1 ? "" : "s"));
  constexpr std::size_t kMostShown = 8;
  if (words.size() > kMostShown) {
    words.resize(kMostShown);
    words.push_back("...");
  }
  throw InputError(
      kTopologyPath,
      fmt::format("no path joins the {} parts of the network: that of {}", parts, join(words, ", that of ")),
      "a connected graph", "add the links that are missing, or remove the nodes");
}

}  // namespace

const TopologyKind& topology_named(const std::string& name) {
  return find_named(name, topologies(), &TopologyKind::name, kTopologyPath, "see longhaul list networks");
}

TopologyOptions topology_options() {
  TopologyOptions options;
  options.libraries = library_names();
  for (const TopologyKind& kind : topologies()) options.sections.push_back(kind.options);
  options.without_sites = names(false);
  return options;
}

std::string topologies_with_sites() {
  return enumeration(names(true), "or");
}

void check_topology_options(const Case& config) {
  library_named(config.network.library);
  const TopologySpec& topology = config.network.topology;
  check_declared(topology_named(topology.name).options, topology.options,
                 std::string(kTopologyPath) + "." + topology.name);
}

void check_topology(const Case& config) {
  const TopologyKind& kind = topology_named(config.network.topology.name);
  kind.check(config);
  check_rank_order(config.network.rank_order, kind);
  if (config.network.message_time && !kind.takes_message_time)  // it is the whole time of a message
    throw InputError("network.message_time", "found on a topology that has measured times of its own",
                     kTakesMessageTime);
}

std::vector<std::string> topology_notes(const Case& config) {
  const TopologyKind& kind = topology_named(config.network.topology.name);
  return kind.notes == nullptr ? std::vector<std::string>() : kind.notes(config);
}

Topology build_topology(const Case& config) {
  check_topology(config);
  Topology topology = topology_named(config.network.topology.name).build(config);
  apply_overrides(config.network.overrides, topology);
  for (const Link& link : topology.links()) check_link(link);
  check_connected(topology);
  return topology;
}

}  // namespace longhaul
