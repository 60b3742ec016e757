// Every two replicas on a link of their own. ns-3 wants every link as an object; for the other fidelities the
// topology makes those that are asked for, so that all links of a mesh are equal.
#include <fmt/core.h>

#include "core/base/errors.h"
#include "core/base/json.h"
#include "net/placement.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace mesh {

void check(const Case& config) {
  refuse_places_of_rollouts(config);
  for (const char* key : {"rate", "rtt"})
    if (!config.network.topology.options.contains(key) && !config.network.message_time)
      throw InputError(std::string("network.topology.mesh.") + key, "this key is missing",
                       "rate and rtt of every link",
                       "only with network.message_time does a message not need them");
  if (!config.network.overrides.empty())
    throw InputError("network.overrides", "found on a mesh", "another topology",
                     "all links of a mesh are equal");
  if (config.rollouts && config.rollouts->weights.store.rate)
    throw InputError("rollouts.weights.store.rate", "found on a mesh", "another topology",
                     "all links of a mesh are equal, and a store has one to each host");
  if (!config.network.variation.is_empty())
    throw InputError("network.variation", "found on a mesh",
                     "another topology, without network.message_time");
}

Topology build(const Case& config) {
  constexpr int kMostReplicas = 16384;  // links have numbers of 31 bits
  if (config.hosts() > kMostReplicas)
    throw InputError("replicas", fmt::format("found {} on a mesh", config.hosts()),
                     fmt::format("at most {}", kMostReplicas), "a mesh has a link for every pair");
  const Json& mesh = config.network.topology.options;
  const double rate = optional_rate(mesh, "rate").value_or(kUnlimited),
               delay_s = optional_duration(mesh, "rtt").value_or(0) / 2;
  Topology topology = hosts_of(config);
  if (config.network.fidelity != "packet") {
    topology.make_mesh(rate, delay_s);
    return topology;
  }
  for (int second = 1; second < config.hosts(); ++second)
    for (int first = 0; first < second; ++first)
      topology.add_link(
          {topology.node_name(first) + "-" + topology.node_name(second), first, second, rate, rate, delay_s});
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
  return {section("mesh", {rate("rate").above(0).means(
                               "of every link, both directions; may be left out with network.message_time"),
                           duration("rtt").at_least(0).means(
                               "round-trip time of every link; may be left out with message_time")})
              .means("every two replicas on a link of their own"),
          check,
          build,
          words,
          /*has_sites=*/false,
          kReplicasAlike,
          /*takes_message_time=*/true};
}

}  // namespace longhaul
