// A star of stars: replicas around a router for each site, and each site's router on one link to "wan".
#include <fmt/core.h>

#include "core/base/errors.h"
#include "core/base/json.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "net/placement.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace hierarchical {

constexpr char kPath[] = "network.topology.hierarchical";

struct HierarchicalSpec {
  Placement placement;
  AccessLinks inside;  // each site's
  AccessLinks trunk;   // those of the sites around the core; its rtt: between two replicas at different sites
};

Placement parse_sites(const Json& json, int replicas) {
  const std::string path = std::string(kPath) + ".sites";
  if (!json.is_number()) return parse_placement(json, replicas, path);
  if (json.get<std::int64_t>() > replicas)
    throw InputError(path, fmt::format("found {} sites for {} replicas", json.dump(), replicas),
                     "at most a site a replica");
  Placement sites;
  for (int site = 0; site < json.get<int>(); ++site) sites.push_back({fmt::format("site{}", site), 0});
  return spread_evenly(std::move(sites), replicas);
}

HierarchicalSpec parse(const Case& config) {
  const Json& json = config.network.topology.options;
  const std::string path = kPath;
  HierarchicalSpec sites;
  sites.inside = parse_access_links(json.at("inside"), path + ".inside");
  sites.trunk = parse_access_links(json.at("trunk"), path + ".trunk");
  if (sites.trunk.rtt < sites.inside.rtt)
    throw InputError(path + ".trunk.rtt",
                     fmt::format("found {} between two sites, and {} inside one",
                                 human_duration(sites.trunk.rtt), human_duration(sites.inside.rtt)),
                     "at least inside.rtt", "the links between the sites would need a negative delay");
  const Placement written = parse_sites(json.at("sites"), config.workers());
  sites.placement = with_sites_of_rollouts(without_empty_sites(written), config,
                                           each_of(written, &Placement::value_type::first));
  return sites;
}

Topology build(const Case& config) {
  const HierarchicalSpec sites = parse(config);
  Topology topology = hosts_of(config);
  const int wan = topology.add_router("wan");
  std::vector<int> routers;
  for (const auto& [site, count] : sites.placement) routers.push_back(topology.add_router(site));
  attach_replicas(topology, sites.placement, routers, sites.inside, config);
  // A way from site to site crosses two access links of inside.rtt / 4 and two trunks.
  const double trunk_delay_s = (sites.trunk.rtt - sites.inside.rtt) / 4;
  for (const int router : routers)
    topology.add_link(
        {topology.node_name(router) + "-wan", router, wan, sites.trunk.up, sites.trunk.down, trunk_delay_s});
  return topology;
}

std::string words(const Json& sites) {
  const Json inside = member(sites, "inside"), trunk = member(sites, "trunk"), given = member(sites, "sites");
  return fmt::format("{} sites with {} and {} inside, joined by links of {}, round trip between sites {}",
                     given.is_object() ? std::to_string(given.size()) : plain(given), rates_in_words(inside),
                     text_of(inside, "rtt"), rates_in_words(trunk), text_of(trunk, "rtt"));
}

std::vector<Node> star_of(const std::string& link, const std::string& rtt) {
  return {rate("rate").above(0).means("of every " + link + ", both directions"),
          rate("up").above(0).means("instead of rate: towards the core"),
          rate("down").above(0).means("instead of rate: from the core"),
          duration("rtt").at_least(0).required().means(rtt)};
}

}  // namespace hierarchical

TopologyKind hierarchical_topology() {
  using namespace hierarchical;
  return {
      section("hierarchical",
              {either("sites", {integer("").at_least(1), table_of("", integer("").at_least(0)).not_empty()})
                   .required()
                   .means("how many sites, among which the replicas are spread evenly, or {site: replicas}"),
               section("inside", star_of("replica's link inside its site",
                                         "round-trip time between two replicas at one site"))
                   .required()
                   .means("the network of each site"),
               section("trunk", star_of("site's link to the wide-area core, which its replicas share",
                                        "round-trip time between two replicas at different sites"))
                   .required()
                   .means("what joins the sites")})
          .means("fast sites joined by slow links: a star of stars"),
      [](const Case& config) { parse(config); }, build, words, /*has_sites=*/true};
}

}  // namespace longhaul
