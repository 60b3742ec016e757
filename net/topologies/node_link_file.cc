#include "net/topologies/node_link_file.h"

#include <fmt/core.h>

#include <cmath>

#include "core/base/errors.h"
#include "core/base/json.h"
#include "core/base/ranges.h"
#include "net/topologies/great_circle.h"

namespace longhaul {
namespace {

InputError not_node_link(const std::string& file, const std::string& found) {
  return InputError(
      {file, "", "is not GraphML, and as node-link JSON it " + found,
       "\"nodes\" with an \"id\", and \"edges\" with \"source\" and \"target\", as networkx writes", ""});
}

const Json& list_in(const Json& graph, std::initializer_list<const char*> keys, const std::string& file) {
  for (const char* key : keys)
    if (graph.contains(key) && graph[key].is_array()) return graph[key];
  throw not_node_link(file, fmt::format("has no list \"{}\"", *keys.begin()));
}

std::string text_of_value(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool is_position(const Json& node) {
  const Json pos = node.value("pos", Json());
  return pos.is_array() && pos.size() == 2 && pos[0].is_number() && pos[1].is_number();
}

bool is_in_degrees(const Json& node) {
  return !is_position(node) ||
         (std::abs(node["pos"][0].get<double>()) <= 180 && std::abs(node["pos"][1].get<double>()) <= 90);
}

// In topohub 1.5.1 eleven maps of SNDlib have pixels as positions, and as lengths the great circles between
// those pixels as degrees: 18,000 km within France. What is on a plane has lengths on it, or none.
void check_lengths(const Json& nodes, const Json& edges, const std::string& file) {
  std::map<std::string, const Json*> node_of;
  for (const Json& node : nodes) node_of[node["id"].dump()] = &node;
  constexpr double kSame = 0.01;
  int on_a_sphere = 0, looked_at = 0;
  for (const Json& edge : edges) {
    const Json length = edge.is_object() ? edge.value("dist", Json()) : Json();
    const auto first = node_of.find(length.is_number() ? edge.value("source", Json()).dump() : ""),
               second = node_of.find(length.is_number() ? edge.value("target", Json()).dump() : "");
    if (first == node_of.end() || second == node_of.end()) continue;
    if (!is_position(*first->second) || !is_position(*second->second)) continue;
    const auto at = [](const Json& node) {
      return Coordinates{node["pos"][1].get<double>(), node["pos"][0].get<double>()};
    };
    const double sphere = great_circle_km(at(*first->second), at(*second->second));
    ++looked_at;
    if (std::abs(length.get<double>() - sphere) <= kSame * sphere) ++on_a_sphere;
  }
  if (2 * on_a_sphere <= looked_at) return;
  const auto lost = std::find_if_not(nodes.begin(), nodes.end(), is_in_degrees);
  throw InputError({file, "",
                    fmt::format("its lengths (dist) are great circles between positions that are no "
                                "degrees: the node {} is at {}",
                                (*lost)["id"].dump(), (*lost)["pos"].dump()),
                    "positions as [longitude, latitude], or lengths in km",
                    "without dist the scenario's default_delay holds"});
}

// Numbers and texts; what is deeper, as topohub's use of a link, says nothing here.
Attributes attributes_of(const Json& owner) {
  Attributes attributes;
  for (const auto& [key, value] : owner.items())
    if (value.is_string() || value.is_number()) attributes[key] = text_of_value(value);
  return attributes;
}

Json parsed(const std::string& text, const std::string& file) {
  try {
    return parse_json(text);
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
}

}  // namespace

WrittenGraph read_node_link(const std::string& text, const std::string& file) {
  const Json graph = parsed(text, file);
  const Json& nodes = list_in(graph, {"nodes"}, file);
  const Json& edges = list_in(graph, {"edges", "links"}, file);
  if (graph.value("directed", Json(false)) == Json(true))
    throw InputError(
        {file, "", "found directed edges", "\"directed\": false", "every edge is a full-duplex link"});
  for (const Json& node : nodes)
    if (!node.is_object() || !node.contains("id")) throw not_node_link(file, "has a node without an \"id\"");
  const bool has_places = std::all_of(nodes.begin(), nodes.end(), is_in_degrees);
  if (!has_places) check_lengths(nodes, edges, file);
  WrittenGraph written;
  std::map<std::string, std::size_t> number_of;
  for (const Json& node : nodes) {
    Attributes attributes = attributes_of(node);
    if (has_places && is_position(node)) {
      attributes["Longitude"] = node["pos"][0].dump();
      attributes["Latitude"] = node["pos"][1].dump();
    }
    if (node["id"].is_string()) attributes.emplace("name", node["id"].get<std::string>());
    if (!number_of.emplace(node["id"].dump(), written.nodes.size()).second)
      throw InputError({file, "node " + node["id"].dump(), "its id stands twice", "each id once", ""});
    written.nodes.push_back(attributes);
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    WrittenGraph::Edge edge;
    for (const auto& [key, end] : {std::pair("source", &edge.first), {"target", &edge.second}}) {
      const Json id = edges[i].is_object() ? edges[i].value(key, Json()) : Json();
      const auto found = number_of.find(id.dump());
      if (found == number_of.end())
        throw InputError({file, element_path("edges", i), fmt::format("its {} is {}", key, id.dump()),
                          "the id of a node", ""});
      *end = found->second;
    }
    edge.attributes = attributes_of(edges[i]);
    written.edges.push_back(edge);
  }
  return written;
}

}  // namespace longhaul
