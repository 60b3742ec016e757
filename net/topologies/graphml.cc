// A router for each node of a GraphML file and a link for each of its edges; the replicas on access links of
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
#include "net/topologies/graphml_file.h"
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

GraphmlGraph load_graph(const std::string& name, const std::string& folder) {
  const std::string file = (std::filesystem::path(folder) / name).string();
  if (std::filesystem::is_regular_file(file)) return read_graphml_file(file);
  throw InputError(std::string(kPath) + ".file", fmt::format("\"{}\" is no file", name),
                   fmt::format("a GraphML file, relative to the scenario's folder ({})", folder));
}

// Those with coordinates; all, where no node has any.
Placement sites_for_even(const GraphmlGraph& graph) {
  Placement sites, all;
  for (const GraphmlNode& node : graph.nodes) {
    all.push_back({node.name, 0});
    if (node.place) sites.push_back({node.name, 0});
  }
  return sites.empty() ? all : sites;
}

Placement placement_of(const Case& config, const GraphmlGraph& graph) {
  const std::optional<Placement> written = written_placement(config);
  if (!written) return without_empty_sites(spread_evenly(sites_for_even(graph), config.workers()));
  check_sites_known(*written, each_of(graph.nodes, &GraphmlNode::name), std::string(kPath) + ".replicas");
  return without_empty_sites(*written);
}

double rate_of(const GraphmlEdge& edge, const Json& options) {
  if (edge.rate) return *edge.rate;
  if (const std::optional<double> rate = optional_rate(options, "default_rate")) return *rate;
  throw InputError(std::string(kPath) + ".default_rate",
                   fmt::format("the edge {} of {} has no speed", edge.name, text_of(options, "file")),
                   "LinkSpeedRaw, an OC-n in LinkLabel or LinkNote, or a default_rate for all such edges");
}

double delay_of(const GraphmlEdge& edge, const GraphmlGraph& graph, const Json& options) {
  const GraphmlNode &first = graph.nodes[as_index(edge.first)], &second = graph.nodes[as_index(edge.second)];
  if (first.place && second.place)
    return great_circle_km(*first.place, *second.place) / kFibreKmPerS *
           options.at("inflation").get<double>();
  if (const std::optional<double> delay_s = optional_duration(options, "default_delay")) return *delay_s;
  throw InputError(std::string(kPath) + ".default_delay",
                   fmt::format("the node {} of {} has no coordinates", (first.place ? second : first).name,
                               text_of(options, "file")),
                   "Latitude and Longitude, or a default_delay for all edges at such nodes");
}

// Of parallel links the fastest comes first: among equal paths the one that was added first is taken.
void sort_parallel_rates(const std::vector<GraphmlEdge>& edges, std::vector<double>& rates) {
  std::map<std::pair<int, int>, std::vector<std::size_t>> edges_between;
  for (std::size_t i = 0; i < edges.size(); ++i)
    edges_between[std::minmax(edges[i].first, edges[i].second)].push_back(i);
  for (const auto& [ends, parallel] : edges_between) {
    std::vector<double> sorted;
    for (const std::size_t i : parallel) sorted.push_back(rates[i]);
    std::sort(sorted.rbegin(), sorted.rend());
    for (std::size_t k = 0; k < parallel.size(); ++k) rates[parallel[k]] = sorted[k];
  }
}

Topology build(const Case& config) {
  const Json& options = config.network.topology.options;
  const GraphmlGraph graph = load_graph(options.at("file"), config.folder);
  const Placement placement = placement_of(config, graph);
  Topology topology(config.workers(),
                    options.at("routing") == "hops" ? Routing::kFewestHops : Routing::kLeastDelay);
  std::map<std::string, int> router_of;
  for (const GraphmlNode& node : graph.nodes) router_of[node.name] = topology.add_router(node.name);
  const auto routers = each_of(placement, [&](const auto& site) { return router_of.at(site.first); });
  const double access_rate = parse_rate(options.at("rate"));
  attach_replicas(topology, placement, routers, {access_rate, access_rate, parse_duration(options.at("rtt"))},
                  config);
  auto rates = each_of(graph.edges, [&](const GraphmlEdge& edge) { return rate_of(edge, options); });
  sort_parallel_rates(graph.edges, rates);
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    const GraphmlEdge& edge = graph.edges[i];
    const int first = config.workers() + edge.first, second = config.workers() + edge.second;
    topology.add_link({edge.name, first, second, rates[i], rates[i], delay_of(edge, graph, options)});
  }
  return topology;
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
               "a GraphML file as in the Internet Topology Zoo, relative to the scenario's folder"),
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
               .means("of edges without LinkSpeedRaw and without an OC-n in LinkLabel or LinkNote"),
           duration("default_delay")
               .at_least(0)
               .means("one way, of edges at a node without Latitude and Longitude"),
           number("inflation")
               .at_least(1)
               .by_default(1.55)
               .means("one-way delay of an edge over great circle / (200 km/ms): 1.55 was measured between "
                      "clouds, 2.1 for end hosts"),
           choice("routing", {"delay", "hops"})
               .by_default("delay")
               .means("a path has the least delay, or the fewest hops")})
          .means("a network of the Internet Topology Zoo: delays from coordinates, rates from the edges"),
      [](const Case& config) { written_placement(config); }, build, words, /*has_sites=*/true};
}

}  // namespace longhaul
