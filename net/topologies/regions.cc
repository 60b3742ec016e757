// Replicas at the sites of a measured matrix: a router a site, access links of a quarter of the round trip
// inside, and a trunk between every two sites with the rest, so that round trips are exactly the matrix's. A
// site with an uplink has a gateway besides, behind a link that all its replicas share.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "core/base/errors.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "net/placement.h"
#include "net/topologies/matrix.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace regions {

constexpr char kPath[] = "network.topology.regions";

// bit/s of all replicas of a site together, towards other sites and from them.
struct Uplink {
  double up = kUnlimited, down = kUnlimited;
};

struct RegionsSpec {
  std::string matrix;         // built-in name or file
  Placement placement;        // in the order written; if `even` without counts, or empty: all sites
  bool even = false;          // the counts are to be computed
  double rate = 0;            // bit/s, access links
  double trunk = kUnlimited;  // bit/s
  // Of a matrix's throughput, by several connections; none: their number.
  std::optional<double> connections_gain;
  std::map<std::string, Uplink> uplinks;
};

RegionsSpec parse(const Case& config) {
  const Json& json = config.network.topology.options;
  const std::string path = kPath;
  RegionsSpec regions;
  regions.matrix = json.at("matrix").get<std::string>();
  regions.rate = parse_rate(json.at("rate"));
  regions.trunk = optional_rate(json, "trunk").value_or(regions.trunk);
  if (json.contains("connections_gain")) regions.connections_gain = json["connections_gain"];
  const Json uplinks = json.value("uplinks", Json::object());
  for (const auto& [site, written] : uplinks.items())
    regions.uplinks[site] = written.is_string() ? Uplink{parse_rate(written), parse_rate(written)}
                                                : Uplink{optional_rate(written, "up").value_or(kUnlimited),
                                                         optional_rate(written, "down").value_or(kUnlimited)};
  regions.even = json.at("replicas").is_string();
  if (regions.even) {
    for (const Json& site : json.value("sites", Json::array())) {
      const auto is_it = [&](const auto& known) { return known.first == site; };
      if (std::any_of(regions.placement.begin(), regions.placement.end(), is_it))
        throw InputError(element_path(path + ".sites", regions.placement.size()),
                         fmt::format("found \"{}\" a second time", plain(site)), "each site once",
                         "\"replicas\" with a number for each site places more at one of them");
      regions.placement.push_back({site, 0});
    }
    return regions;
  }
  if (json.contains("sites"))
    throw InputError(path + ".sites", "found beside a placement by counts", "only with replicas \"even\"");
  regions.placement = parse_placement(json["replicas"], config.workers(), path + ".replicas");
  return regions;
}

// What joins a site to the others: its gateway, or its router where it has none.
struct Exit {
  std::string site;
  int node = 0;
};

Link trunk_between(const Exit& exit, const Exit& other, const SitePair& measured, double inside_rtt,
                   double rate) {
  const std::string name = exit.site + "-" + other.site;
  const double delay_s = measured.rtt / 2 - inside_rtt / 2;  // both access links are inside_rtt / 4 each
  if (delay_s < 0)
    throw InputError(std::string(kPath) + ".matrix",
                     fmt::format("{} has a round trip of {}, inside a site {}", name,
                                 human_duration(measured.rtt), human_duration(inside_rtt)),
                     "no two sites nearer than two replicas at one site", "lower inside.rtt of the matrix");
  return {name, exit.node, other.node, rate, rate, delay_s};
}

std::vector<Exit> exits_of(Topology& topology, const std::vector<int>& routers,
                           const std::map<std::string, Uplink>& uplinks) {
  std::vector<Exit> exits;
  for (const int router : routers) {
    Exit exit{topology.node_name(router), router};
    if (const auto found = uplinks.find(exit.site); found != uplinks.end()) {
      exit.node = topology.add_router(exit.site + " gateway");
      topology.add_link({exit.site + "-" + topology.node_name(exit.node), router, exit.node, found->second.up,
                         found->second.down, 0});
    }
    exits.push_back(exit);
  }
  return exits;
}

void join_sites(Topology& topology, const std::vector<Exit>& exits, const Matrix& matrix, double rate) {
  for (std::size_t i = 0; i < exits.size(); ++i)
    for (std::size_t j = i + 1; j < exits.size(); ++j)
      topology.add_link(trunk_between(exits[i], exits[j], matrix.between(exits[i].site, exits[j].site),
                                      matrix.inside().rtt, rate));
}

void check_uplinks(const RegionsSpec& regions, const Placement& placement) {
  Placement written;
  std::vector<std::string> sites;
  for (const auto& [site, uplink] : regions.uplinks) written.push_back({site, 0});
  for (const auto& [site, count] : placement) sites.push_back(site);
  check_sites_known(written, sites, std::string(kPath) + ".uplinks");
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
  Placement sites = regions.placement;
  if (regions.even && sites.empty())
    for (const std::string& site : matrix.sites()) sites.push_back({site, 0});
  check_sites_known(sites, matrix.sites(), std::string(kPath) + ".replicas");
  return without_empty_sites(regions.even ? spread_evenly(std::move(sites), replicas) : std::move(sites));
}

Topology build(const Case& config) {
  const RegionsSpec regions = parse(config);
  const Matrix matrix = load_matrix(regions.matrix, config.folder);
  const Placement placement = placement_of(regions, matrix, config.workers());
  check_uplinks(regions, placement);
  Topology topology(config.workers());
  std::vector<int> routers;
  for (const auto& [site, count] : placement) routers.push_back(topology.add_router(site));
  attach_replicas(topology, placement, routers, {regions.rate, regions.rate, matrix.inside().rtt},
                  places_of_ranks(config.network.rank_order, placement, config.seed));
  join_sites(topology, exits_of(topology, routers, regions.uplinks), matrix, regions.trunk);
  topology.set_connection_caps(
      topology.site_of(),
      caps_between(placement, matrix, part_of_each(regions, config.network.tcp.connections)));
  return topology;
}

std::string words(const Json& regions) {
  std::vector<std::string> sites;
  const Json placement = member(regions, "replicas");
  if (placement.is_object())
    for (const auto& [site, count] : placement.items())
      sites.push_back(fmt::format("{} in {}", plain(count), site));
  else
    sites.push_back("spread evenly");
  return fmt::format("measured matrix {}, replicas {}, access links {}", text_of(regions, "matrix"),
                     join(sites), text_of(regions, "rate"));
}

}  // namespace regions

TopologyKind regions_topology() {
  using namespace regions;
  TopologyKind kind;
  kind.options =
      section(
          "regions",
          {text("matrix").required().means(
               "a built-in matrix (longhaul list networks) or a JSON file of that form"),
           either("replicas", {table_of("", integer("").at_least(0)).not_empty(), choice("", {"even"})})
               .required()
               .means("replicas at each site, or \"even\": spread evenly, in order, over the sites"),
           list_of("sites", text("")).not_empty().means("sites for \"even\"; default all of the matrix"),
           rate("rate").above(0).by_default("10Gbps").means("of every access link"),
           rate("trunk").above(0).means("of the link between two sites; default unlimited"),
           table_of("uplinks",
                    either("", {rate("").above(0),
                                section("", {rate("up").above(0).means("way out; default unlimited"),
                                             rate("down").above(0).means("way in; default unlimited")})}))
               .means(
                   "{site: rate} of the link to all other sites that a site's replicas share; default none"),
           number("connections_gain")
               .at_least(1)
               .means("the most that several connections of a pair carry together, over the matrix's "
                      "throughput of one; default: the number of connections, which nobody has measured")})
          .means("replicas placed at sites with measured round-trip times and single-connection throughputs");
  kind.has_sites = true;
  kind.check = [](const Case& config) { parse(config); };
  kind.build = build;
  kind.words = words;
  return kind;
}

}  // namespace longhaul
