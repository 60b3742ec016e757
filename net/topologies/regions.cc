#include <algorithm>

#include "core/errors.h"
#include "core/units.h"
#include "net/matrix.h"
#include "net/placement.h"
#include "net/rank_order.h"
#include "net/topologies/topologies.h"

namespace longhaul {
namespace {

constexpr char kRegionsPath[] = "network.topology.regions";

Link trunk_between(const Topology& topology, int one, int other, const SitePair& measured, double inside_rtt,
                   double rate) {
  const std::string name = topology.node_name(one) + "-" + topology.node_name(other);
  const double delay_s = measured.rtt / 2 - inside_rtt / 2;  // both access links are inside_rtt / 4 each
  if (delay_s < 0)
    throw InputError({"", std::string(kRegionsPath) + ".matrix",
                      name + " has a round trip of " + human_duration(measured.rtt) + ", inside a site " +
                          human_duration(inside_rtt),
                      "no two sites nearer than two replicas at one site", "lower inside.rtt of the matrix"});
  return {name, one, other, rate, rate, delay_s};
}

void join_sites(Topology& topology, const std::vector<int>& routers, const Matrix& matrix, double rate) {
  for (std::size_t i = 0; i < routers.size(); ++i)
    for (std::size_t j = i + 1; j < routers.size(); ++j) {
      const SitePair& measured =
          matrix.between(topology.node_name(routers[i]), topology.node_name(routers[j]));
      topology.add_link(trunk_between(topology, routers[i], routers[j], measured, matrix.inside().rtt, rate));
    }
}

// The part of a matrix's throughput that each of several connections has.
double part_of_each(const RegionsSpec& regions, int connections) {
  return std::min(1., regions.connections_gain.value_or(connections) / connections);
}

std::vector<std::vector<double>> caps_between(const Placement& placement, const Matrix& matrix, double part) {
  std::vector<std::vector<double>> caps(placement.size(), std::vector<double>(placement.size()));
  for (std::size_t i = 0; i < placement.size(); ++i)
    for (std::size_t j = 0; j < placement.size(); ++j)
      caps[i][j] = part * (i == j ? matrix.inside().throughput
                                  : matrix.between(placement[i].first, placement[j].first).throughput);
  return caps;
}

Placement placement_of(const RegionsSpec& regions, const Matrix& matrix, int replicas) {
  const std::string path = std::string(kRegionsPath) + ".replicas";
  Placement sites = regions.placement;
  if (regions.even && sites.empty())
    for (const std::string& site : matrix.sites()) sites.push_back({site, 0});
  check_sites_known(sites, matrix.sites(), path);
  return placed(std::move(sites), regions.even, replicas, path);
}

}  // namespace

Topology build(const RegionsSpec& regions, const Case& one) {
  const Matrix matrix = load_matrix(regions.matrix, one.folder);
  const Placement placement = placement_of(regions, matrix, one.replicas);
  Topology topology(one.replicas);
  std::vector<int> routers;
  for (const auto& [site, count] : placement) routers.push_back(topology.add_router(site));
  attach_replicas(topology, placement, routers, {regions.rate, regions.rate, matrix.inside().rtt},
                  places_of_ranks(one.network.rank_order, placement, one.seed));
  join_sites(topology, routers, matrix, regions.trunk.value_or(kUnlimited));
  topology.set_connection_caps(
      topology.site_of(),
      caps_between(placement, matrix, part_of_each(regions, one.network.tcp.connections)));
  return topology;
}

}  // namespace longhaul
