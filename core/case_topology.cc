// The sections network.topology.* and network.overrides of a resolved case.
#include <charconv>

#include "core/case_parts.h"
#include "core/errors.h"
#include "core/units.h"

namespace longhaul {
namespace {

LognormalRate parse_lognormal_rate(const Json& json) {
  return {parse_rate(json.at("median")), json.at("sigma").get<double>()};
}

// All of `text` as a number, or -1.
int parse_index(const std::string& text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

std::optional<double> optional_rate(const Json& json, const char* key) {
  if (!json.contains(key)) return std::nullopt;
  return parse_rate(json[key]);
}

std::optional<double> optional_duration(const Json& json, const char* key) {
  if (!json.contains(key)) return std::nullopt;
  return parse_duration(json[key]);
}

LinkOverride parse_override(const Json& json, int replicas, const std::string& path) {
  if (json.contains("link") == json.contains("replica"))
    throw InputError({"", path, "found " + json.dump(), "exactly one of link and replica", ""});
  const bool has_direction = json.contains("up") || json.contains("down");
  if (json.contains("rate") && has_direction)
    throw InputError({"", path, "found " + json.dump(), "either rate, or up and down", ""});
  if (!json.contains("rate") && !has_direction && !json.contains("delay"))
    throw InputError({"", path, "found " + json.dump(), "at least one of rate, up, down, delay",
                      "an override says what is different"});
  LinkOverride one;
  if (json.contains("link")) {
    one.link = json["link"].get<std::string>();
  } else {
    const Json& replica = json["replica"];
    one.replicas = parse_replica_range(replica.is_string() ? replica.get<std::string>() : replica.dump(),
                                       replicas, path + ".replica");
  }
  one.up = optional_rate(json, json.contains("rate") ? "rate" : "up");
  one.down = optional_rate(json, json.contains("rate") ? "rate" : "down");
  one.delay = optional_duration(json, "delay");
  return one;
}

}  // namespace

std::pair<int, int> parse_replica_range(const std::string& text, int replicas, const std::string& path) {
  const std::size_t dash = text.find('-');
  const int first = parse_index(text.substr(0, dash)),
            last = dash == std::string::npos ? first : parse_index(text.substr(dash + 1));
  if (first < 0 || last < first || last >= replicas)
    throw InputError({"", path, "found \"" + text + "\"",
                      "a replica, 0 … " + std::to_string(replicas - 1) + ", or a range as \"0-3\"", ""});
  return {first, last};
}

std::vector<std::pair<std::string, int>> parse_placement(const Json& json, int replicas,
                                                         const std::string& path) {
  std::vector<std::pair<std::string, int>> placement;
  int placed = 0;
  for (const auto& [site, count] : json.items()) {
    placement.push_back({site, count.get<int>()});
    placed += count.get<int>();
  }
  if (placed != replicas)
    throw InputError(
        {"", path,
         "places " + std::to_string(placed) + " replicas, the scenario has " + std::to_string(replicas),
         "counts that add up to replicas, or \"even\"", ""});
  return placement;
}

StarSpec parse_star(const Json& json, const std::string& path) {
  StarSpec star;
  star.rtt = parse_duration(json.at("rtt"));
  const bool both = json.contains("up") && json.contains("down"),
             any = json.contains("up") || json.contains("down");
  if (json.contains("rate") == any || any != both)
    throw InputError({"", path, "found " + json.dump(), "either rate, or up and down", ""});
  star.up = parse_rate(json.value("up", json.value("rate", "")));
  star.down = parse_rate(json.value("down", json.value("rate", "")));
  return star;
}

HomesSpec parse_homes(const Json& json) {
  return {parse_lognormal_rate(json.at("up")), parse_lognormal_rate(json.at("down")),
          parse_rate(json.at("floor")), parse_duration(json.at("rtt"))};
}

HierarchicalSpec parse_hierarchical(const Json& json, int replicas) {
  const std::string path = "network.topology.hierarchical";
  HierarchicalSpec sites;
  sites.inside = parse_star(json.at("inside"), path + ".inside");
  sites.trunk = parse_star(json.at("trunk"), path + ".trunk");
  if (sites.trunk.rtt < sites.inside.rtt)
    throw InputError({"", path + ".trunk.rtt",
                      "found " + human_duration(sites.trunk.rtt) + " between two sites, and " +
                          human_duration(sites.inside.rtt) + " inside one",
                      "at least inside.rtt", "the links between the sites would need a negative delay"});
  const Json& given = json.at("sites");
  sites.even = given.is_number();
  if (!sites.even) {
    sites.placement = parse_placement(given, replicas, path + ".sites");
    return sites;
  }
  if (given.get<std::int64_t>() > replicas)
    throw InputError({"", path + ".sites",
                      "found " + given.dump() + " sites for " + std::to_string(replicas) + " replicas",
                      "at most a site a replica", ""});
  for (int site = 0; site < given.get<int>(); ++site)
    sites.placement.push_back({"site" + std::to_string(site), 0});
  return sites;
}

GraphmlSpec parse_graphml(const Json& json, int replicas) {
  GraphmlSpec graph;
  graph.file = json.at("file").get<std::string>();
  graph.even = json.at("replicas").is_string();
  if (!graph.even)
    graph.placement = parse_placement(json["replicas"], replicas, "network.topology.graphml.replicas");
  graph.rate = parse_rate(json.at("rate"));
  graph.rtt = parse_duration(json.at("rtt"));
  graph.default_rate = optional_rate(json, "default_rate");
  graph.default_delay = optional_duration(json, "default_delay");
  graph.inflation = json.at("inflation");
  graph.routes_by_hops = json.at("routing") == "hops";
  return graph;
}

std::vector<LinkOverride> parse_overrides(const Json& json, int replicas) {
  std::vector<LinkOverride> overrides;
  for (std::size_t i = 0; i < json.size(); ++i)
    overrides.push_back(parse_override(json[i], replicas, element_path("network.overrides", i)));
  return overrides;
}

}  // namespace longhaul
