// Replicas at the sites of a measured matrix: a router a site, access links of a quarter of the round trip
// inside, and a trunk between every two sites with the rest, so that round trips are exactly the matrix's. A
// site with an uplink has a gateway besides, behind a link that all its replicas share.
#include <fmt/core.h>

#include <map>

#include "core/base/errors.h"
#include "core/base/json.h"
#include "core/base/ranges.h"
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

std::map<std::string, Uplink> uplinks_of(const Json& json) {
  std::map<std::string, Uplink> uplinks;
  const Json all = json.value("uplinks", Json::object());
  for (const auto& [site, written] : all.items())
    uplinks[site] = written.is_string() ? Uplink{parse_rate(written), parse_rate(written)}
                                        : Uplink{optional_rate(written, "up").value_or(kUnlimited),
                                                 optional_rate(written, "down").value_or(kUnlimited)};
  return uplinks;
}

bool is_even(const Json& json) {
  return json.at("replicas").is_string();
}

// In the order written; to be spread evenly without counts, or empty: all sites.
Placement written_placement(const Case& config) {
  const Json& json = config.network.topology.options;
  const std::string path = kPath;
  if (is_even(json)) {
    Placement placement;
    for (const Json& site : json.value("sites", Json::array())) {
      const auto is_it = [&](const auto& known) { return known.first == site; };
      if (any_of(placement, is_it))
        throw InputError(element_path(path + ".sites", placement.size()),
                         fmt::format("found \"{}\" a second time", plain(site)), "each site once",
                         "\"replicas\" with a number for each site places more at one of them");
      placement.push_back({site, 0});
    }
    return placement;
  }
  if (json.contains("sites"))
    throw InputError(path + ".sites", "found beside a placement by counts", "only with replicas \"even\"");
  return parse_placement(json["replicas"], config.workers(), path + ".replicas");
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

void check_uplinks(const std::map<std::string, Uplink>& uplinks, const Placement& placement) {
  Placement written;
  for (const auto& [site, uplink] : uplinks) written.push_back({site, 0});
  check_sites_known(written, each_of(placement, &Placement::value_type::first),
                    std::string(kPath) + ".uplinks");
}

// Bit/s of each of `connections` of two replicas, by their sites.
std::vector<std::vector<double>> caps_between(const Placement& placement, const Matrix& matrix,
                                              int connections, double gain) {
  std::vector<std::vector<double>> caps(placement.size(), std::vector<double>(placement.size()));
  for (std::size_t i = 0; i < placement.size(); ++i)
    for (std::size_t j = 0; j < placement.size(); ++j)
      caps[i][j] = (i == j ? matrix.inside() : matrix.between(placement[i].first, placement[j].first))
                       .each(connections, gain);
  return caps;
}

Placement placement_of(const Case& config, const Matrix& matrix) {
  Placement sites = written_placement(config);
  const bool even = is_even(config.network.topology.options);
  if (even && sites.empty())
    for (const std::string& site : matrix.sites()) sites.push_back({site, 0});
  check_sites_known(sites, matrix.sites(), std::string(kPath) + ".replicas");
  return with_sites_of_rollouts(
      without_empty_sites(even ? spread_evenly(std::move(sites), config.workers()) : std::move(sites)),
      config, matrix.sites());
}

Topology build(const Case& config) {
  const Json& regions = config.network.topology.options;
  const Matrix matrix = load_matrix(regions.at("matrix"), config.folder);
  const Placement placement = placement_of(config, matrix);
  const std::map<std::string, Uplink> uplinks = uplinks_of(regions);
  check_uplinks(uplinks, placement);
  Topology topology = hosts_of(config);
  const auto routers = each_of(placement, [&](const auto& at) { return topology.add_router(at.first); });
  const double rate = parse_rate(regions.at("rate"));
  attach_replicas(topology, placement, routers, {rate, rate, matrix.inside().rtt}, config);
  join_sites(topology, exits_of(topology, routers, uplinks), matrix,
             optional_rate(regions, "trunk").value_or(kUnlimited));
  const int connections = config.network.tcp.connections;
  topology.set_connection_caps(
      topology.site_of(),
      caps_between(placement, matrix, connections, regions.value("connections_gain", 1. * connections)));
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
  return {
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
                      "throughput of one; default: the number of connections, an upper bound. Where the "
                      "matrix says what they carry together that bounds them too")})
          .means("replicas placed at sites with measured round-trip times and single-connection throughputs"),
      [](const Case& config) { written_placement(config); }, build, words, /*has_sites=*/true};
}

}  // namespace longhaul
