#include "net/topologies/graphml_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/algorithm/string/trim.hpp>
#include <boost/graph/graphml.hpp>
#include <boost/property_tree/exceptions.hpp>
#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

constexpr double kOpticalCarrier = 51.84e6;  // bit/s of OC-1

using Attributes = std::map<std::string, std::string>;

// What Boost's reader finds, with every value as its text.
class Recorder : public boost::mutate_graph {
 public:
  struct Edge {
    std::size_t first, second;
    Attributes attributes;
  };

  const std::vector<Attributes>& nodes() const { return nodes_; }
  const std::vector<Edge>& edges() const { return edges_; }

  bool is_directed() const override { return false; }

  boost::any do_add_vertex() override {
    nodes_.emplace_back();
    return nodes_.size() - 1;
  }

  std::pair<boost::any, bool> do_add_edge(boost::any source, boost::any target) override {
    edges_.push_back({boost::any_cast<std::size_t>(source), boost::any_cast<std::size_t>(target), {}});
    return {edges_.size() - 1, true};
  }

  void set_graph_property(const std::string&, const std::string&, const std::string&) override {}

  void set_vertex_property(const std::string& name, boost::any vertex, const std::string& value,
                           const std::string&) override {
    nodes_[boost::any_cast<std::size_t>(vertex)][name] = value;
  }

  void set_edge_property(const std::string& name, boost::any edge, const std::string& value,
                         const std::string&) override {
    edges_[boost::any_cast<std::size_t>(edge)].attributes[name] = value;
  }

 private:
  std::vector<Attributes> nodes_;
  std::vector<Edge> edges_;
};

std::string value_of(const Attributes& attributes, const std::string& key) {
  const auto found = attributes.find(key);
  return found == attributes.end() ? "" : boost::algorithm::trim_copy(found->second);
}

std::optional<double> number_of(const Attributes& attributes, const std::string& key, const std::string& file,
                                const std::string& owner) {
  const std::string text = value_of(attributes, key);
  if (text.empty()) return std::nullopt;
  const std::optional<double> value = parse_number<double>(text);
  if (!value || !std::isfinite(*value))
    throw InputError({file, owner, fmt::format("{} is \"{}\"", key, text), "a number", ""});
  return value;
}

class Namer {
 public:
  std::string unique(const std::string& name) {
    std::string text = name;
    for (int count = 2; !known_.insert(text).second; ++count) text = fmt::format("{}#{}", name, count);
    return text;
  }

 private:
  std::set<std::string> known_;
};

void check_range(double degrees, double most, const char* key, const std::string& file,
                 const std::string& owner) {
  if (std::abs(degrees) <= most) return;
  throw InputError({file, owner, fmt::format("{} is {}", key, format_number(degrees)),
                    fmt::format("-{0} to {0} degrees", format_number(most)), ""});
}

std::optional<Coordinates> place_of(const Attributes& node, const std::string& name,
                                    const std::string& file) {
  const std::string owner = "node " + name;
  const auto latitude = number_of(node, "Latitude", file, owner),
             longitude = number_of(node, "Longitude", file, owner);
  if (!latitude || !longitude) return std::nullopt;
  check_range(*latitude, 90, "Latitude", file, owner);
  check_range(*longitude, 180, "Longitude", file, owner);
  return Coordinates{*latitude, *longitude};
}

std::optional<double> rate_of(const Attributes& edge, const std::string& name, const std::string& file) {
  static const std::regex carrier(R"(\bOC-?\s*(\d{1,5}))", std::regex::icase);
  const std::string owner = "edge " + name;
  const auto raw = number_of(edge, "LinkSpeedRaw", file, owner);
  if (raw && !(*raw > 0))
    throw InputError({file, owner, "LinkSpeedRaw is " + format_number(*raw), "more than 0 bit/s",
                      "without the key, an OC-n label or default_rate counts"});
  if (raw) return raw;
  for (const char* key : {"LinkLabel", "LinkNote"}) {
    const std::string label = value_of(edge, key);
    std::smatch found;
    if (std::regex_search(label, found, carrier) && std::stoi(found[1]) > 0)
      return std::stoi(found[1]) * kOpticalCarrier;
  }
  return std::nullopt;
}

GraphmlGraph graph_of(const Recorder& recorder, const std::string& file) {
  GraphmlGraph graph;
  Namer nodes, edges;
  for (const Attributes& attributes : recorder.nodes()) {
    const std::string label = value_of(attributes, "label");
    const std::string name = nodes.unique(label.empty() ? fmt::format("node{}", graph.nodes.size()) : label);
    graph.nodes.push_back({name, place_of(attributes, name, file)});
  }
  for (const Recorder::Edge& edge : recorder.edges()) {
    if (edge.first == edge.second) continue;
    const std::string name =
        edges.unique(fmt::format("{}-{}", graph.nodes[edge.first].name, graph.nodes[edge.second].name));
    graph.edges.push_back({static_cast<int>(edge.first), static_cast<int>(edge.second), name,
                           rate_of(edge.attributes, name, file)});
  }
  return graph;
}

// Boost makes a node of whatever an edge names. A misspelt id must not become a place on the map.
void check_ends(const Recorder& recorder, const std::string& text, const std::string& file) {
  std::size_t written = 0;
  for (std::size_t at = text.find("<node"); at != std::string::npos; at = text.find("<node", at + 1))
    ++written;
  if (recorder.nodes().size() <= written) return;
  const auto is_nameless = [&](std::size_t node) { return recorder.nodes()[node].empty(); };
  for (const Recorder::Edge& edge : recorder.edges())
    if (is_nameless(edge.first) || is_nameless(edge.second)) {
      const std::size_t other = is_nameless(edge.first) ? edge.second : edge.first;
      throw InputError({file, "an edge of node " + value_of(recorder.nodes()[other], "label"),
                        "its other end is no node of the file", "source and target that are ids of nodes",
                        ""});
    }
}

// Boost's reader calls itself for each element inside another one; GraphML has graph, node, data and few
// more.
void check_depth(const std::string& text, const std::string& file) {
  constexpr int kDeepest = 100;
  int depth = 0;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const char next = at + 1 < text.size() ? text[at + 1] : ' ';
    if (next == '!' || next == '?') continue;
    const std::size_t end = text.find('>', at);
    const bool is_empty = end != std::string::npos && text[end - 1] == '/';
    if (next == '/')
      --depth;
    else if (!is_empty && ++depth > kDeepest)
      throw InputError({file, "", fmt::format("has elements nested {} deep", depth),
                        fmt::format("at most {}", kDeepest), ""});
  }
}

InputError not_graphml(const std::string& file, const std::string& reason) {
  const std::regex place(R"(^<unspecified file>\((\d+)\))");  // Boost's words for a stream
  return InputError({file, "",
                     fmt::format("is not GraphML ({})", std::regex_replace(reason, place, "line $1")),
                     "a GraphML file as in the Internet Topology Zoo", ""});
}

}  // namespace

double great_circle_km(const Coordinates& coordinates, const Coordinates& other) {
  constexpr double kRadians = 3.14159265358979323846 / 180, kEarthRadiusKm = 6371;
  const double across = std::sin((other.latitude - coordinates.latitude) * kRadians / 2),
               around = std::sin((other.longitude - coordinates.longitude) * kRadians / 2);
  const double haversine = across * across + std::cos(coordinates.latitude * kRadians) *
                                                 std::cos(other.latitude * kRadians) * around * around;
  return 2 * kEarthRadiusKm * std::asin(std::sqrt(std::min(1., haversine)));
}

GraphmlGraph read_graphml_file(const std::string& file) {
  const std::string text = read_file(file).value_or("");
  check_depth(text, file);
  std::istringstream in(text);
  Recorder recorder;
  try {
    boost::read_graphml(in, recorder, 0);
  } catch (const boost::directed_graph_error&) {
    throw InputError(
        {file, "", "found directed edges", "edgedefault=\"undirected\"", "every edge is a full-duplex link"});
  } catch (const boost::graph_exception& error) {
    throw not_graphml(file, error.what());
  } catch (const boost::property_tree::ptree_error& error) {  // of the XML
    throw not_graphml(file, error.what());
  }
  check_ends(recorder, text, file);
  if (recorder.nodes().empty())
    throw InputError({file, "", "holds no node", "a GraphML file with nodes and edges", ""});
  return graph_of(recorder, file);
}

}  // namespace longhaul
