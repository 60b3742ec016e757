#include "net/topologies/registry.h"

#include "core/errors.h"

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
                   "found \"" + to_string(order.kind) + "\" on a topology without sites",
                   "\"blocks\", or the topology " + topologies_with_sites(), kind.why_no_order);
}

// A drawn time is the whole time of a message.
void check_message_time(const NetworkSpec& network, const TopologyKind& kind) {
  if (network.message_time && !kind.takes_message_time)
    throw InputError("network.message_time", "found on a topology that has measured times of its own",
                     kTakesMessageTime);
}

}  // namespace

const TopologyKind& topology_named(const std::string& name) {
  std::vector<std::string> all;
  for (const TopologyKind& kind : topologies()) {
    if (kind.name() == name) return kind;
    all.push_back(kind.name());
  }
  const std::string near = nearest(name, all);
  throw InputError("network.topology", "found \"" + name + "\"", join(all),
                   near.empty() ? "see longhaul list networks" : "did you mean \"" + near + "\"?");
}

TopologyOptions topology_options() {
  TopologyOptions options;
  for (const TopologyKind& kind : topologies()) options.sections.push_back(kind.options);
  options.without_sites = names(false);
  return options;
}

std::string topologies_with_sites() {
  return enumeration(names(true), "or");
}

void check_topology(const Case& one) {
  const TopologyKind& kind = topology_named(one.network.topology.name);
  kind.check(one);
  check_rank_order(one.network.rank_order, kind);
  check_message_time(one.network, kind);
}

}  // namespace longhaul
