// A router for each node of a map and a link for each of its edges; the replicas on access links of
// rtt / 4 at the nodes.
#include <fmt/core.h>

#include <filesystem>
#include <map>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/json.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "net/placement.h"
#include "net/topologies/graph_map.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace graphml {

constexpr char kPath[] = "network.topology.graphml";
constexpr double kFibreKmPerS = 200e3;

// By node, in the order written; none: spread evenly.
std::optional<Placement> written_placement(const Case& config) {
  const Json& replicas = config.network.topology.options.at("replicas");
  if (replicas.is_string()) return std::nullopt;
  return parse_placement(replicas, config.workers(), std::string(kPath) + ".replicas");
}

// Of one of the unit, in bit/s or seconds; none where the scenario names no unit.
std::optional<double> unit_in(const Json& options, const char* key, double (*parse)(const std::string&)) {
  const Json unit = member(options, key);
  if (!unit.is_string()) return std::nullopt;
  return parse("1" + unit.get<std::string>());
}

GraphMap load_map(const Case& config) {
  const Json& options = config.network.topology.options;
  const std::string name = options.at("file");
  const std::string file = (std::filesystem::path(config.folder) / name).string();
  if (std::filesystem::is_regular_file(file))
    return read_graph_map(
        file, {unit_in(options, "rate_unit", parse_rate), unit_in(options, "delay_unit", parse_duration)});
  throw InputError(
      std::string(kPath) + ".file", fmt::format("\"{}\" is no file", name),
      fmt::format("GraphML or node-link JSON, relative to the scenario's folder ({})", config.folder));
}

// Those with coordinates; all, where no node has any.
Placement sites_for_even(const GraphMap& map) {
  Placement sites, all;
  for (const GraphNode& node : map.nodes) {
    all.push_back({node.name, 0});
    if (node.place) sites.push_back({node.name, 0});
  }
  return sites.empty() ? all : sites;
}

Placement placement_of(const Case& config, const GraphMap& map) {
  const std::optional<Placement> written = written_placement(config);
  const auto known = each_of(map.nodes, &GraphNode::name);
  if (written) check_sites_known(*written, known, std::string(kPath) + ".replicas");
  return with_sites_of_rollouts(
      without_empty_sites(written ? *written : spread_evenly(sites_for_even(map), config.workers())), config,
      known);
}

struct Rates {
  double forward = 0, backward = 0;
};

Rates rates_of(const GraphEdge& edge, const Json& options) {
  if (edge.forward) return {*edge.forward, *edge.backward};
  if (const std::optional<double> rate = optional_rate(options, "default_rate")) return {*rate, *rate};
  const std::string label = edge.unread.empty() ? "" : fmt::format(" (its label is \"{}\")", edge.unread);
  throw InputError(
      std::string(kPath) + ".default_rate",
      fmt::format("the edge {} of {} has no speed{}", edge.name, text_of(options, "file"), label),
      "LinkSpeedRaw, LinkFwdCap, bandwidth, a label as \"OC-48\" or \"10 Gbps\", or a "
      "default_rate for all such edges");
}

double delay_of(const GraphEdge& edge, const GraphMap& map, const Json& options) {
  const double inflation = options.at("inflation").get<double>();
  if (edge.delay_s) return *edge.delay_s;
  if (edge.length_km) return *edge.length_km / kFibreKmPerS * inflation;
  const GraphNode &first = map.nodes[as_index(edge.first)], &second = map.nodes[as_index(edge.second)];
  if (first.place && second.place)
    return great_circle_km(*first.place, *second.place) / kFibreKmPerS * inflation;
  if (const std::optional<double> delay_s = optional_duration(options, "default_delay")) return *delay_s;
  throw InputError(
      std::string(kPath) + ".default_delay",
      fmt::format("the node {} of {} has no coordinates", (first.place ? second : first).name,
                  text_of(options, "file")),
      "Latitude and Longitude, LinkDelay or latency of its edges, or a default_delay for all such");
}

// Of parallel links with one delay the fastest comes first: among equal paths the one that was added first is
// taken.
void sort_parallel_rates(const std::vector<GraphEdge>& edges, const std::vector<double>& delays,
                         std::vector<Rates>& rates) {
  std::map<std::pair<std::pair<int, int>, double>, std::vector<std::size_t>> edges_between;
  for (std::size_t i = 0; i < edges.size(); ++i)
    edges_between[{std::minmax(edges[i].first, edges[i].second), delays[i]}].push_back(i);
  const auto turned = [&](std::size_t edge) {  // from the lower node to the higher one, and back
    if (edges[edge].first > edges[edge].second) std::swap(rates[edge].forward, rates[edge].backward);
  };
  for (const auto& [ends, parallel] : edges_between) {
    std::vector<Rates> sorted;
    for (const std::size_t i : parallel) turned(i), sorted.push_back(rates[i]);
    std::stable_sort(sorted.begin(), sorted.end(), [](const Rates& one, const Rates& other) {
      return std::min(one.forward, one.backward) > std::min(other.forward, other.backward);
    });
    for (std::size_t k = 0; k < parallel.size(); ++k) rates[parallel[k]] = sorted[k], turned(parallel[k]);
  }
}

Topology build(const Case& config) {
  const Json& options = config.network.topology.options;
  const GraphMap map = load_map(config);
  const Placement placement = placement_of(config, map);
  Topology topology =
      hosts_of(config, options.at("routing") == "hops" ? Routing::kFewestHops : Routing::kLeastDelay);
  std::map<std::string, int> router_of;
  for (const GraphNode& node : map.nodes) router_of[node.name] = topology.add_router(node.name);
  const auto routers = each_of(placement, [&](const auto& site) { return router_of.at(site.first); });
  const double access_rate = parse_rate(options.at("rate"));
  attach_replicas(topology, placement, routers, {access_rate, access_rate, parse_duration(options.at("rtt"))},
                  config);
  auto rates = each_of(map.edges, [&](const GraphEdge& edge) { return rates_of(edge, options); });
  const auto delays = each_of(map.edges, [&](const GraphEdge& edge) { return delay_of(edge, map, options); });
  sort_parallel_rates(map.edges, delays, rates);
  for (std::size_t i = 0; i < map.edges.size(); ++i) {
    const GraphEdge& edge = map.edges[i];
    const int first = config.hosts() + edge.first, second = config.hosts() + edge.second;
    topology.add_link({edge.name, first, second, rates[i].forward, rates[i].backward, delays[i]});
  }
  return topology;
}

std::vector<std::string> notes(const Case& config) {
  return load_map(config).notes;
}

std::string words(const Json& graph) {
  const Json placement = member(graph, "replicas");
  return fmt::format("network of {}, replicas {}, access links {}", text_of(graph, "file"),
                     placement.is_object() ? fmt::format("at {} nodes", placement.size()) : "spread evenly",
                     text_of(graph, "rate"));
}

}  // namespace graphml

TopologyKind graphml_topology() {
  using namespace graphml;
  return {
      section(
          "graphml",
          {text("file").required().means(
               "GraphML as in the Internet Topology Zoo, or node-link JSON as topohub's and networkx's, "
               "relative to the scenario's folder"),
           either("replicas", {table_of("", integer("").at_least(0)).not_empty(), choice("", {"even"})})
               .required()
               .means(
                   "replicas at each node, by label, or \"even\": spread evenly, in the file's order, over "
                   "the nodes with coordinates"),
           rate("rate").above(0).by_default("10Gbps").means("of every access link, replica to node"),
           duration("rtt").at_least(0).by_default("1ms").means(
               "round-trip time between two replicas at one node; each access link is a quarter of it"),
           rate("default_rate")
               .above(0)
               .means("of edges without a rate: no LinkSpeedRaw, LinkFwdCap, bandwidth or capacity, and no "
                      "label "
                      "that names one"),
           duration("default_delay")
               .at_least(0)
               .means("one way, of edges without LinkDelay, latency or dist, at a node without coordinates"),
           choice("rate_unit", {"bps", "kbps", "Mbps", "Gbps"})
               .means(
                   "of LinkFwdCap, LinkBkwdCap, bandwidth and capacity that are written without one: Mbps, "
                   "and `check` says so, unless it is chosen"),
           choice("delay_unit", {"s", "ms", "us"})
               .means(
                   "of LinkDelay, latency and delay that are written without one: ms, and `check` says so, "
                   "unless it is chosen"),
           number("inflation")
               .at_least(1)
               .by_default(1.55)
               .means(
                   "one-way delay of an edge over its length (dist, or the great circle) / (200 km/ms): 1.55 "
                   "was measured between clouds, 2.1 for end hosts; written delays are taken as they are"),
           choice("routing", {"delay", "hops"})
               .by_default("delay")
               .means("a path has the least delay, or the fewest hops")})
          .means("a network of the Internet Topology Zoo: delays from coordinates, rates from the edges"),
      [](const Case& config) { written_placement(config); },
      build,
      words,
      /*has_sites=*/true,
      /*why_no_order=*/{},
      /*takes_message_time=*/false,
      notes};
}

}  // namespace longhaul
