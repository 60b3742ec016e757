#include "planner/planned_network.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "analysis/report/report.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/units.h"
#include "net/topologies/great_circle.h"
#include "planner/plan_request.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

constexpr double kFibreKmPerSecond = 200e3;
constexpr char kGraphFile[] = "sites.graphml", kMatrixFile[] = "sites.json";

using SitePairs = std::map<std::pair<std::string, std::string>, double>;

std::pair<std::string, std::string> in_order(const std::string& text, const std::string& other) {
  return text < other ? std::make_pair(text, other) : std::make_pair(other, text);
}

std::string text_rate(double rate) {
  return format_number(rate) + "bps";
}

std::string text_seconds(double seconds) {
  return format_number(seconds) + "s";
}

// Between sites that read_plan_request has checked.
SitePairs given_rtts(const PlanRequest& plan) {
  SitePairs rtts;
  const Json paths = plan.written.value("paths", Json::array());
  for (const Json& path : paths)
    rtts.emplace(in_order(path["between"][0], path["between"][1]), parse_duration(path["rtt"]));
  return rtts;
}

// None where the plan does not say it.
std::optional<double> rtt_between(const PlannedSite& planned_site, const PlannedSite& other,
                                  const SitePairs& given, double inflation) {
  const auto found = given.find(in_order(planned_site.name, other.name));
  if (found != given.end()) return found->second;
  if (!planned_site.latitude || !other.latitude) return std::nullopt;
  return 2 * inflation / kFibreKmPerSecond *
         great_circle_km({*planned_site.latitude, *planned_site.longitude},
                         {*other.latitude, *other.longitude});
}

std::string gateway_of(const PlannedSite& site) {
  return site.name + " gateway";
}

std::string graph_file(const PlanRequest& plan) {
  std::ostringstream out;
  out << "<?xml version='1.0' encoding='utf-8'?>\n"
         "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
         "  <key attr.name=\"label\" attr.type=\"string\" for=\"node\" id=\"d0\" />\n"
         "  <key attr.name=\"Latitude\" attr.type=\"double\" for=\"node\" id=\"d1\" />\n"
         "  <key attr.name=\"Longitude\" attr.type=\"double\" for=\"node\" id=\"d2\" />\n"
         "  <graph edgedefault=\"undirected\">\n";
  int number = 0;
  for (const bool gateway : {false, true})
    for (const PlannedSite& site : plan.sites) {
      out << fmt::format("    <node id=\"{}\"><data key=\"d0\">{}</data>", number++,
                         html_safe(gateway ? gateway_of(site) : site.name));
      if (site.latitude)
        out << fmt::format("<data key=\"d1\">{}</data><data key=\"d2\">{}</data>",
                           format_number(*site.latitude), format_number(*site.longitude));
      out << "</node>\n";
    }
  const int count = static_cast<int>(plan.sites.size());
  for (int i = 0; i < count; ++i)
    out << fmt::format("    <edge source=\"{}\" target=\"{}\" />\n", i, count + i);
  for (int i = 0; i < count; ++i)
    for (int j = i + 1; j < count; ++j)
      out << fmt::format("    <edge source=\"{}\" target=\"{}\" />\n", count + i, count + j);
  out << "  </graph>\n</graphml>\n";
  return out.str();
}

// Of the link from a site's router to its gateway.
Json way_out(const PlannedSite& site, const std::string& link) {
  return {{"link", link},
          {"up", text_rate(site.up > 0 ? site.up : kNoLimit)},
          {"down", text_rate(site.down > 0 ? site.down : kNoLimit)},
          {"delay", "0s"}};
}

PlannedNetwork graph_of_sites(const PlanRequest& plan, const std::string& prefix) {
  const std::string file = prefix + kGraphFile;
  const SitePairs given = given_rtts(plan);
  const double inside = parse_duration(plan.joins.at("inside")), inflation = plan.joins.at("inflation");
  Json overrides = Json::array(), placement = Json::object();
  for (const PlannedSite& site : plan.sites) {
    placement[site.name] = site.nodes;
    overrides.push_back(way_out(site, site.name + "-" + gateway_of(site)));
  }
  for (std::size_t i = 0; i < plan.sites.size(); ++i)
    for (std::size_t j = i + 1; j < plan.sites.size(); ++j) {
      const std::optional<double> rtt = rtt_between(plan.sites[i], plan.sites[j], given, inflation);
      if (!rtt)
        throw InputError("paths",
                         fmt::format("says nothing of {} and {}", plan.sites[i].name, plan.sites[j].name),
                         "their round trip, or latitude and longitude of both sites");
      if (*rtt < inside && given.count(in_order(plan.sites[i].name, plan.sites[j].name)) > 0)
        throw InputError("inside",
                         fmt::format("found {}, but {} and {} are {} apart (paths)", human_duration(inside),
                                     plan.sites[i].name, plan.sites[j].name, human_duration(*rtt)),
                         "at most the round trip between two sites");
      overrides.push_back({{"link", gateway_of(plan.sites[i]) + "-" + gateway_of(plan.sites[j])},
                           {"delay", text_seconds(std::max(0., (*rtt - inside) / 2))}});
    }
  PlannedNetwork network;
  network.files[file] = graph_file(plan);
  // The fewest hops: from gateway to gateway, whatever the detours.
  network.section = {{"topology",
                      {{"graphml",
                        {{"file", file},
                         {"replicas", placement},
                         {"rate", plan.joins.at("node_rate")},
                         {"rtt", plan.joins.at("inside")},
                         {"default_rate", text_rate(kNoLimit)},
                         {"default_delay", "0s"},
                         {"routing", "hops"}}}}},
                     {"overrides", overrides}};
  return network;
}

PlannedNetwork matrix_of_sites(const PlanRequest& plan, const std::string& prefix) {
  const std::string file = prefix + kMatrixFile;
  Json placement = Json::object(), uplinks = Json::object();
  for (const PlannedSite& site : plan.sites) {
    placement[site.name] = site.nodes;
    for (const auto& [key, rate] : {std::pair("up", site.up), std::pair("down", site.down)})
      if (rate > 0) uplinks[site.name][key] = text_rate(rate);
  }
  PlannedNetwork network;
  network.files[file] = plan.measured.dump(2) + "\n";
  Json regions = {{"matrix", file}, {"replicas", placement}, {"rate", plan.joins.at("node_rate")}};
  if (!uplinks.empty()) regions["uplinks"] = uplinks;
  network.section = {{"topology", {{"regions", regions}}}};
  return network;
}

// `file`: a name that the plan file has. What cannot be is said of its folder, not of that of the candidate.
void check_beside_plan(const Json& file, const std::string& path, const std::string& what,
                       const PlanRequest& plan) {
  if (!file.is_string() || fs::is_regular_file(fs::path(plan.folder) / file.get<std::string>())) return;
  throw InputError(path, fmt::format("\"{}\" is no file", file.get<std::string>()),
                   fmt::format("{}, relative to the plan file's folder ({})", what,
                               plan.folder.empty() ? "." : plan.folder));
}

// A file of the plan's folder as it is named from another one; a built-in matrix stays.
void rename_file(Json& place, const char* key, const PlanRequest& plan, const std::string& folder) {
  if (!place.is_object() || !place.contains(key) || !place[key].is_string()) return;
  const fs::path file = fs::path(plan.folder) / place[key].get<std::string>();
  if (fs::is_regular_file(file)) place[key] = fs::proximate(file, fs::absolute(folder)).generic_string();
}

PlannedNetwork given_network(const PlanRequest& plan, const std::string& folder) {
  PlannedNetwork network;
  network.section = plan.written["network"];
  Json& topology = network.section["topology"];
  if (topology.contains("graphml")) {
    check_beside_plan(member(topology["graphml"], "file"), "network.topology.graphml.file",
                      "GraphML or node-link JSON", plan);
    rename_file(topology["graphml"], "file", plan, folder);
  }
  if (topology.contains("regions")) rename_file(topology["regions"], "matrix", plan, folder);
  if (member(network.section, "variation").contains("traces"))
    for (std::size_t i = 0; i < network.section["variation"]["traces"].size(); ++i) {
      Json& trace = network.section["variation"]["traces"][i];
      check_beside_plan(member(trace, "file"), element_path("network.variation.traces", i) + ".file",
                        "a CSV file", plan);
      rename_file(trace, "file", plan, folder);
    }
  return network;
}

// Of the nodes' own links, as each topology calls them.
void multiply_rates(Json& section, int factor) {
  Json& topology = section["topology"];
  const std::string kind = topology.begin().key();
  Json& links = kind == "hierarchical" ? topology[kind]["inside"] : topology[kind];
  if ((kind == "regions" || kind == "graphml") && !links.contains("rate"))
    links["rate"] = "10Gbps";  // their default
  bool any = false;
  for (const char* key : {"rate", "up", "down"})
    if (links.contains(key) && links[key].is_string()) {
      links[key] = text_rate(parse_rate(links[key]) * factor);
      any = true;
    }
  if (!any)
    throw InputError("way_out", "found \"per-accelerator\" on the topology " + kind,
                     "a topology whose nodes have a rate: star, mesh, regions, graphml, hierarchical");
}

// Each of a node's ways out has connections of its own.
void set_connections_gain(const PlanRequest& plan, Json& section) {
  if (!plan.written.contains("connections_gain")) return;
  Json& topology = section["topology"];
  if (!topology.contains("regions"))
    throw InputError("connections_gain", "found on a network whose links have a rate",
                     "measurements of what one connection carries, or a topology of regions",
                     "connections share the rate of a link, however many they are");
  if (topology["regions"].contains("connections_gain"))
    throw InputError("connections_gain", "found beside network.topology.regions.connections_gain",
                     "one of them");
  if (plan.connections_gain)
    topology["regions"]["connections_gain"] =
        *plan.connections_gain * (plan.way_out_per_accelerator ? plan.hardware.per_node : 1);
}

// Where the plan names no fidelity: flow has no model of a FIFO.
void set_fifos_aside(PlannedNetwork& network) {
  if (network.section.contains("fidelity") || !network.section.contains("tcp")) return;
  Json& tcp = network.section["tcp"];
  const bool has_fifo = member(tcp, "queue") == "fifo";
  if (!has_fifo && member(tcp, "trunk_queue") != "fifo") return;
  for (const char* key : {"queue", "queue_size", "trunk_queue"})
    if (tcp.contains(key)) network.fifos[key] = tcp[key];
  tcp.erase("trunk_queue");
  if (has_fifo) tcp.erase("queue");
}

}  // namespace

void put_behind_fifos(const Json& fifos, Json& scenario) {
  scenario["network"]["fidelity"] = "linux";
  scenario["network"]["tcp"].update(fifos);
}

measured::Known known_of_sites(const PlanRequest& plan) {
  measured::Known known;
  known.inside = {{"rtt", plain(plan.joins.at("inside"))}, {"throughput", plain(plan.joins.at("node_rate"))}};
  const SitePairs given = given_rtts(plan);
  for (std::size_t i = 0; i < plan.sites.size(); ++i) {
    const PlannedSite& site = plan.sites[i];
    known.sites.emplace_back(site.name, site.hosts);
    for (std::size_t j = i + 1; j < plan.sites.size(); ++j)
      if (const auto rtt = rtt_between(site, plan.sites[j], given, plan.joins.at("inflation")))
        (given.count(in_order(site.name, plan.sites[j].name)) > 0
             ? known.rtts
             : known.guesses)[measured::pair_of(site.name, plan.sites[j].name)] = text_seconds(*rtt);
  }
  return known;
}

PlannedNetwork planned_network(const PlanRequest& plan, const std::string& folder,
                               const std::string& prefix) {
  PlannedNetwork network;
  if (plan.sites.empty())
    network = given_network(plan, folder);
  else
    network = (plan.measurements.empty() ? graph_of_sites : matrix_of_sites)(plan, prefix);
  if (plan.written.contains("tcp")) network.section["tcp"] = plan.written["tcp"];
  set_fifos_aside(network);
  set_connections_gain(plan, network.section);
  if (plan.way_out_per_accelerator && plan.hardware.per_node > 1) {
    multiply_rates(network.section, plan.hardware.per_node);
    network.per_connection = plan.hardware.per_node;
  }
  return network;
}

}  // namespace longhaul
