// Every two replicas on a link of their own. ns-3 wants every link as an object; for the other fidelities the
// topology makes those that are asked for, so that all links of a mesh are equal.
#include <fmt/core.h>

#include "core/base/errors.h"
#include "core/base/json.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace mesh {

// Without rate and rtt only where messages draw their times.
struct MeshSpec {
  double rate = kUnlimited;  // bit/s, both directions
  double rtt = 0;            // s
};

MeshSpec parse(const Case& config) {
  const Json& json = config.network.topology.options;
  MeshSpec mesh;
  mesh.rate = optional_rate(json, "rate").value_or(mesh.rate);
  mesh.rtt = optional_duration(json, "rtt").value_or(mesh.rtt);
  for (const char* key : {"rate", "rtt"})
    if (!json.contains(key) && !config.network.message_time)
      throw InputError(std::string("network.topology.mesh.") + key, "this key is missing",
                       "rate and rtt of every link",
                       "only with network.message_time does a message not need them");
  return mesh;
}

void check(const Case& config) {
  parse(config);
  if (!config.network.overrides.empty())
    throw InputError("network.overrides", "found on a mesh", "another topology",
                     "all links of a mesh are equal");
  if (!config.network.variation.is_empty())
    throw InputError("network.variation", "found on a mesh",
                     "another topology, without network.message_time");
}

Topology build(const Case& config) {
  constexpr int kMostReplicas = 16384;  // links have numbers of 31 bits
  if (config.workers() > kMostReplicas)
    throw InputError("replicas", fmt::format("found {} on a mesh", config.workers()),
                     fmt::format("at most {}", kMostReplicas), "a mesh has a link for every pair");
  const MeshSpec mesh = parse(config);
  Topology topology(config.workers());
  if (config.network.fidelity != "packet") {
    topology.make_mesh(mesh.rate, mesh.rtt / 2);
    return topology;
  }
  for (int second = 1; second < config.workers(); ++second)
    for (int first = 0; first < second; ++first)
      topology.add_link({topology.node_name(first) + "-" + topology.node_name(second), first, second,
                         mesh.rate, mesh.rate, mesh.rtt / 2});
  return topology;
}

std::string words(const Json& mesh) {
  std::string text = "mesh, every two replicas on a link of their own";
  if (!member(mesh, "rate").is_null()) text += " of " + text_of(mesh, "rate");
  if (!member(mesh, "rtt").is_null()) text += ", round trip " + text_of(mesh, "rtt");
  return text;
}

}  // namespace mesh

TopologyKind mesh_topology() {
  using namespace mesh;
  TopologyKind kind;
  kind.options =
      section("mesh", {rate("rate").above(0).means(
                           "of every link, both directions; may be left out with network.message_time"),
                       duration("rtt").at_least(0).means(
                           "round-trip time of every link; may be left out with message_time")})
          .means("every two replicas on a link of their own");
  kind.why_no_order = kReplicasAlike;
  kind.takes_message_time = true;
  kind.check = check;
  kind.build = build;
  kind.words = words;
  return kind;
}

}  // namespace longhaul
