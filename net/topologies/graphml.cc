#include "net/graphml.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/errors.h"
#include "net/placement.h"
#include "net/rank_order.h"
#include "net/topologies/topologies.h"

namespace longhaul {
namespace {

constexpr char kPath[] = "network.topology.graphml";
constexpr double kFibreKmPerS = 200e3;

GraphmlGraph load_graph(const GraphmlSpec& spec, const std::string& folder) {
  const std::string file = (std::filesystem::path(folder) / spec.file).string();
  if (std::filesystem::is_regular_file(file)) return read_graphml_file(file);
  throw InputError({"", std::string(kPath) + ".file", "\"" + spec.file + "\" is no file",
                    "a GraphML file, relative to the scenario's folder (" + folder + ")", ""});
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

Placement placement_of(const GraphmlSpec& spec, const GraphmlGraph& graph, int replicas) {
  const std::string path = std::string(kPath) + ".replicas";
  if (spec.even) return placed(sites_for_even(graph), true, replicas, path);
  std::vector<std::string> names;
  for (const GraphmlNode& node : graph.nodes) names.push_back(node.name);
  check_sites_known(spec.placement, names, path);
  return placed(spec.placement, false, replicas, path);
}

double rate_of(const GraphmlEdge& edge, const GraphmlSpec& spec) {
  if (edge.rate) return *edge.rate;
  if (spec.default_rate) return *spec.default_rate;
  throw InputError({"", std::string(kPath) + ".default_rate",
                    "the edge " + edge.name + " of " + spec.file + " has no speed",
                    "LinkSpeedRaw, an OC-n in LinkLabel or LinkNote, or a default_rate for all such edges",
                    ""});
}

double delay_of(const GraphmlEdge& edge, const GraphmlGraph& graph, const GraphmlSpec& spec) {
  const GraphmlNode &first = graph.nodes[static_cast<std::size_t>(edge.first)],
                    &second = graph.nodes[static_cast<std::size_t>(edge.second)];
  if (first.place && second.place)
    return great_circle_km(*first.place, *second.place) / kFibreKmPerS * spec.inflation;
  if (spec.default_delay) return *spec.default_delay;
  throw InputError(
      {"", std::string(kPath) + ".default_delay",
       "the node " + (first.place ? second : first).name + " of " + spec.file + " has no coordinates",
       "Latitude and Longitude, or a default_delay for all edges at such nodes", ""});
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

}  // namespace

Topology build(const GraphmlSpec& spec, const Case& one) {
  const GraphmlGraph graph = load_graph(spec, one.folder);
  const Placement placement = placement_of(spec, graph, one.replicas);
  Topology topology(one.replicas, spec.routes_by_hops ? Routing::kFewestHops : Routing::kLeastDelay);
  std::map<std::string, int> router_of;
  for (const GraphmlNode& node : graph.nodes) router_of[node.name] = topology.add_router(node.name);
  std::vector<int> routers;
  for (const auto& [node, count] : placement) routers.push_back(router_of.at(node));
  attach_replicas(topology, placement, routers, {spec.rate, spec.rate, spec.rtt},
                  places_of_ranks(one.network.rank_order, placement, one.seed));
  std::vector<double> rates;
  for (const GraphmlEdge& edge : graph.edges) rates.push_back(rate_of(edge, spec));
  sort_parallel_rates(graph.edges, rates);
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    const GraphmlEdge& edge = graph.edges[i];
    const int first = one.replicas + edge.first, second = one.replicas + edge.second;
    topology.add_link({edge.name, first, second, rates[i], rates[i], delay_of(edge, graph, spec)});
  }
  return topology;
}

}  // namespace longhaul
