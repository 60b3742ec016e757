#include "core/errors.h"
#include "net/topologies/topologies.h"

namespace longhaul {

Topology build(const MeshSpec& mesh, const Case& one) {
  constexpr int kMostReplicas = 16384;  // links have numbers of 31 bits
  if (one.replicas > kMostReplicas)
    throw InputError({"", "replicas", "found " + std::to_string(one.replicas) + " on a mesh",
                      "at most " + std::to_string(kMostReplicas), "a mesh has a link for every pair"});
  Topology topology(one.replicas);
  const double rate = mesh.rate.value_or(kUnlimited);
  if (one.network.fidelity != "packet") {
    topology.make_mesh(rate, mesh.rtt / 2);
    return topology;
  }
  for (int second = 1; second < one.replicas; ++second)
    for (int first = 0; first < second; ++first)
      topology.add_link({topology.node_name(first) + "-" + topology.node_name(second), first, second, rate,
                         rate, mesh.rtt / 2});
  return topology;
}

}  // namespace longhaul
