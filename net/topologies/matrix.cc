#include "net/topologies/matrix.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/base/options.h"
#include "core/base/ranges.h"
#include "core/base/units.h"

namespace longhaul {

const std::map<std::string, std::string_view>& network_files();  // embedded scenarios/networks/*.json

namespace {

std::pair<std::string, std::string> ordered(const std::string& text, const std::string& other) {
  return text < other ? std::make_pair(text, other) : std::make_pair(other, text);
}

std::vector<Node> measured_options() {
  return {duration("rtt").above(0).means("round-trip time"),
          duration("one_way").above(0).means(
              "instead of rtt, where one-way delays were published; doubled when read"),
          rate("throughput").above(0).required().means("payload rate of one connection")};
}

// What planner/measured/matrix.cc says of each direction and number of streams.
std::vector<Node> measured_way() {
  return {text("from").means("the site that sent; absent where it is not known"),
          integer("connections").at_least(1).required().means("streams that ran together"),
          rate("throughput").above(0).required().means("payload rate of all of them together")};
}

Node matrix_options() {
  std::vector<Node> pair = measured_options();
  pair.push_back(list_of("between", text("")).required().means("two sites"));
  pair.push_back(
      list_of("measured", section("", measured_way()))
          .means(
              "what `throughput` was chosen from; what several streams carried bounds several connections"));
  return section(
      "", {text("about").required().means("one line for longhaul list networks"),
           text("source").required().means("where the numbers come from"),
           list_of("sites", text("")).not_empty().required().means("all sites"),
           section("inside", measured_options()).required().means("between two replicas at one site"),
           list_of("pairs", section("", pair)).required().means("every two sites, once, in either order")});
}

SitePair parse_measured(const Json& json, const std::string& path) {
  if (json.contains("rtt") == json.contains("one_way"))
    throw InputError(path, "found " + json.dump(), "exactly one of rtt and one_way");
  const double rtt = json.contains("rtt") ? parse_duration(json["rtt"]) : 2 * parse_duration(json["one_way"]);
  SitePair pair{rtt, parse_rate(json.at("throughput"))};
  std::map<int, std::map<std::string, double>> by_direction;
  for (const Json& way : json.value("measured", Json::array()))
    if (const int connections = way.at("connections"); connections > 1)
      by_direction[connections][way.value("from", "")] = parse_rate(way.at("throughput"));
  for (const auto& [connections, ways] : by_direction) {
    const auto slower = std::min_element(ways.begin(), ways.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
    pair.together[connections] = std::max(pair.throughput, slower->second);
  }
  return pair;
}

// An error inside `pairs` with the sites' names, which are easier to find than pairs[37].
InputError naming_pair(const InputError& error, const Json& json) {
  InputErrorParts parts = error.parts();
  std::size_t index = 0;
  if (std::sscanf(parts.path.c_str(), "pairs[%zu]", &index) != 1 || index >= json["pairs"].size())
    return error;
  const Json& pair = json["pairs"][index];
  if (!pair.is_object() || !pair.contains("between")) return error;
  parts.found += fmt::format(" (the pair {})", pair["between"].dump());
  return InputError(parts);
}

Json resolved_matrix(const std::string& text) {
  const Json json = parse_json(text);
  check_no_duplicate_keys(text);
  try {
    return resolve(matrix_options(), json, "");
  } catch (const InputError& error) {
    throw naming_pair(error, json);
  }
}

void check_sites(const Json& between, const std::vector<std::string>& sites, const std::string& path) {
  if (between.size() != 2 || between[0] == between[1])
    throw InputError(path + ".between", "found " + between.dump(), "two different sites");
  for (const Json& site : between) {
    if (contains(sites, site)) continue;
    throw InputError(path + ".between", "found " + site.dump(), "one of sites: " + join(sites),
                     did_you_mean(site, sites));
  }
}

}  // namespace

Matrix Matrix::parse(const std::string& text, const std::string& file) {
  try {
    const Json json = resolved_matrix(text);
    Matrix matrix;
    matrix.about_ = json["about"];
    matrix.source_ = json["source"];
    matrix.sites_ = json["sites"].get<std::vector<std::string>>();
    matrix.inside_ = parse_measured(json["inside"], "inside");
    for (std::size_t i = 0; i < json["pairs"].size(); ++i) {
      const Json& pair = json["pairs"][i];
      const std::string path = element_path("pairs", i);
      check_sites(pair["between"], matrix.sites_, path);
      const bool is_new =
          matrix.pairs_.insert({ordered(pair["between"][0], pair["between"][1]), parse_measured(pair, path)})
              .second;
      if (!is_new) throw InputError(path, pair["between"].dump() + " is there twice", "every pair once");
    }
    for (std::size_t i = 0; i < matrix.sites_.size(); ++i)
      for (std::size_t j = i + 1; j < matrix.sites_.size(); ++j)
        if (!matrix.pairs_.count(ordered(matrix.sites_[i], matrix.sites_[j])))
          throw InputError("pairs",
                           fmt::format("the pair {}, {} is missing", matrix.sites_[i], matrix.sites_[j]),
                           "every two of sites");
    return matrix;
  } catch (const Json::exception& error) {
    throw in_our_words(error).in_file(file);
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
}

double SitePair::each(int connections, double gain) const {
  double all = std::min(1. * connections, gain) * throughput;
  if (connections > 1 && !together.empty()) {
    auto measured = together.lower_bound(connections);
    if (measured == together.end()) --measured;
    all = std::min(all, measured->second);
  }
  return all / connections;
}

const SitePair& Matrix::between(const std::string& text, const std::string& other) const {
  return pairs_.at(ordered(text, other));
}

Matrix load_matrix(const std::string& name, const std::string& folder) {
  const auto built_in = network_files().find(name + ".json");
  if (built_in != network_files().end()) return Matrix::parse(std::string(built_in->second), name);
  const std::string file = (std::filesystem::path(folder) / name).string();
  if (std::filesystem::is_regular_file(file)) return Matrix::parse(read_file(file).value_or(""), file);
  throw InputError("network.topology.regions.matrix",
                   fmt::format("found \"{}\", which is neither built in nor a file", name),
                   join(built_in_matrices()) + ", or a JSON file of that form",
                   did_you_mean(name, built_in_matrices(), "see longhaul list networks"));
}

std::vector<std::string> built_in_matrices() {
  std::vector<std::string> names;
  for (const auto& [file, text] : network_files()) names.push_back(file.substr(0, file.rfind('.')));
  return names;
}

}  // namespace longhaul
