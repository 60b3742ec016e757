#include "analysis/site_table.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "analysis/run_files.h"
#include "core/base/errors.h"
#include "core/base/files.h"
#include "net/site_matrix.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace {

Json matrix_json(const std::vector<std::vector<double>>& matrix) {
  Json rows = Json::array();
  for (const std::vector<double>& numbers : matrix) {
    Json row = Json::array();
    for (const double number : numbers) row.push_back(std::isfinite(number) ? Json(number) : Json(nullptr));
    rows.push_back(std::move(row));
  }
  return rows;
}

void add_places(const NodePlaces& places, Json& json) {
  if (places.of.empty()) return;
  json["coordinates"] = places.about;
  for (const auto& [node, place] : places.of) json["places"][node] = {place.latitude, place.longitude};
}

// What lies between two sites does not depend on which replicas stand there.
Case in_blocks(Case config) {
  config.network.rank_order = RankOrderSpec();
  return config;
}

bool is_number_within(const Json& json, double bound) {
  return json.is_number() && std::abs(json.get<double>()) <= bound;
}

bool are_names(const Json& list) {
  return list.is_array() &&
         std::all_of(list.begin(), list.end(), [](const Json& name) { return name.is_string(); });
}

bool are_places(const Json& places) {
  return places.is_object() && std::all_of(places.begin(), places.end(), [](const Json& place) {
           return place.is_array() && place.size() == 2 && is_number_within(place[0], 90) &&
                  is_number_within(place[1], 180);
         });
}

bool is_square(const Json& matrix, std::size_t size) {
  return matrix.is_array() && matrix.size() == size &&
         std::all_of(matrix.begin(), matrix.end(), [&](const Json& row) {
           return row.is_array() && row.size() == size &&
                  std::all_of(row.begin(), row.end(), [](const Json& cell) {
                    return cell.is_null() || (cell.is_number() && cell.get<double>() >= 0);
                  });
         });
}

bool is_well_formed(const Json& json) {
  if (!json.is_object() || !json.contains("sites") || !are_names(json["sites"])) return false;
  const std::size_t count = json["sites"].size();
  for (const char* key : {"rtt_s", "throughput_bps"})
    if (json.contains(key) && !is_square(json[key], count)) return false;
  if (json.contains("rtt_s") != json.contains("throughput_bps")) return false;
  if (json.contains("coordinates") != json.contains("places")) return false;
  return !json.contains("places") || (json["coordinates"].is_string() && are_places(json["places"]));
}

}  // namespace

void write_sites(const Case& config, const std::string& folder) {
  const TopologyKind& kind = topology_named(config.network.topology.name);
  if (!kind.has_sites) return;
  const Topology topology = build_topology(in_blocks(config));
  Json json = Json::object();
  if (kind.places) add_places(kind.places(config), json);
  const SiteMatrix matrix = site_matrix(topology);
  json["sites"] = matrix.sites;
  if (matrix.sites.size() <= kMostSitesInPairs) {
    json["rtt_s"] = matrix_json(matrix.rtt_s);
    json["throughput_bps"] = matrix_json(matrix.throughput_bps);
  }
  write_file(folder + "/sites.json", json.dump() + "\n");
}

Json read_sites(const std::string& folder) {
  const std::string file = folder + "/sites.json";
  if (!std::filesystem::exists(file)) return nullptr;
  const Json json = read_json_or_null(file);
  if (!is_well_formed(json)) throw DamagedFile(file + ": this is no table of sites");
  return json;
}

}  // namespace longhaul
