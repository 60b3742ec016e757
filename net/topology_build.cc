// The topologies that a scenario can ask for.
#include <algorithm>

#include "core/errors.h"
#include "core/units.h"
#include "net/matrix.h"
#include "net/topology.h"

namespace longhaul {
namespace {

constexpr char kRegionsPath[] = "network.topology.regions";

Topology build_star(const StarSpec& star, int replicas) {
  Topology topology(replicas);
  const int core = topology.add_router("core");
  for (int i = 0; i < replicas; ++i)
    topology.add_link({topology.node_name(i) + "-core", i, core, star.up, star.down, star.rtt / 4});
  return topology;
}

// ns-3 wants every link as an object; the other fidelities ask for those that are used.
Topology build_mesh(const MeshSpec& mesh, int replicas, bool stores_links) {
  constexpr int kMostReplicas = 16384;  // links have numbers of 31 bits
  if (replicas > kMostReplicas)
    throw InputError({"", "replicas", "found " + std::to_string(replicas) + " on a mesh",
                      "at most " + std::to_string(kMostReplicas), "a mesh has a link for every pair"});
  Topology topology(replicas);
  const double rate = mesh.rate.value_or(kUnlimited);
  if (!stores_links) topology.make_mesh(rate, mesh.rtt / 2);
  for (int second = 1; stores_links && second < replicas; ++second)
    for (int first = 0; first < second; ++first)
      topology.add_link({topology.node_name(first) + "-" + topology.node_name(second), first, second, rate,
                         rate, mesh.rtt / 2});
  return topology;
}

// A misspelt site must not become a silent default: list what the matrix has.
void check_site(const std::string& site, const Matrix& matrix) {
  const std::vector<std::string>& sites = matrix.sites();
  if (std::find(sites.begin(), sites.end(), site) != sites.end()) return;
  const std::string near = nearest(site, sites);
  throw InputError({"", std::string(kRegionsPath) + ".replicas." + site,
                    "found an unknown site \"" + site + "\"", join(sites),
                    near.empty() ? "" : "did you mean \"" + near + "\"?"});
}

// Sites in the order written, each with its number of replicas; "even" gives the first ones the remainder.
std::vector<std::pair<std::string, int>> place(const RegionsSpec& regions, const Matrix& matrix,
                                               int replicas) {
  std::vector<std::pair<std::string, int>> placement = regions.placement;
  if (regions.even && placement.empty())
    for (const std::string& site : matrix.sites()) placement.push_back({site, 0});
  const int count = static_cast<int>(placement.size());
  for (int i = 0; i < count; ++i) {
    auto& [site, here] = placement[static_cast<std::size_t>(i)];
    check_site(site, matrix);
    if (regions.even) here = replicas / count + (i < replicas % count);
  }
  placement.erase(
      std::remove_if(placement.begin(), placement.end(), [](const auto& p) { return p.second == 0; }),
      placement.end());
  return placement;
}

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

std::vector<std::vector<double>> caps_between(const std::vector<std::pair<std::string, int>>& placement,
                                              const Matrix& matrix) {
  std::vector<std::vector<double>> caps(placement.size(), std::vector<double>(placement.size()));
  for (std::size_t i = 0; i < placement.size(); ++i)
    for (std::size_t j = 0; j < placement.size(); ++j)
      caps[i][j] = i == j ? matrix.inside().throughput
                          : matrix.between(placement[i].first, placement[j].first).throughput;
  return caps;
}

Topology build_regions(const RegionsSpec& regions, const std::string& folder, int replicas) {
  const Matrix matrix = load_matrix(regions.matrix, folder);
  const auto placement = place(regions, matrix, replicas);
  Topology topology(replicas);
  std::vector<int> routers, site_of;
  for (const auto& [site, count] : placement) {
    const int router = topology.add_router(site);
    for (int i = 0; i < count; ++i) {
      const int replica = static_cast<int>(site_of.size());
      topology.add_link({topology.node_name(replica) + "-" + site, replica, router, regions.rate,
                         regions.rate, matrix.inside().rtt / 4});
      site_of.push_back(static_cast<int>(routers.size()));
    }
    routers.push_back(router);
  }
  join_sites(topology, routers, matrix, regions.trunk.value_or(kUnlimited));
  topology.set_sites(site_of);
  topology.set_connection_caps(site_of, caps_between(placement, matrix));
  return topology;
}

}  // namespace

Topology build_topology(const Case& one) {
  if (const auto* star = std::get_if<StarSpec>(&one.network.topology)) return build_star(*star, one.replicas);
  if (const auto* mesh = std::get_if<MeshSpec>(&one.network.topology))
    return build_mesh(*mesh, one.replicas, one.network.fidelity == "packet");
  return build_regions(std::get<RegionsSpec>(one.network.topology), one.folder, one.replicas);
}

}  // namespace longhaul
