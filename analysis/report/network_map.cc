#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "analysis/record_values.h"
#include "analysis/report/parts.h"
#include "analysis/run_files.h"
#include "core/errors.h"

namespace longhaul {
namespace {

struct Direction {
  double bytes = 0, busy_s = 0;
  std::optional<double> rate_bps;

  // The share of its rate that it carried while it was busy; 0 without a rate.
  double full() const { return rate_bps && busy_s > 0 ? 8 * bytes / *rate_bps / busy_s : 0; }
};

struct Load {
  std::string link, direction;
  double bytes = 0, busy_s = 0;
};

struct MapLink {
  std::string name, from, to;
  std::array<Direction, 2> directions;  // forward, backward

  double busy_s() const { return std::max(directions[0].busy_s, directions[1].busy_s); }
};

bool is_replica(const std::string& node) {
  return node.rfind("replica", 0) == 0 && node.size() > 7 &&
         std::all_of(node.begin() + 7, node.end(), [](unsigned char c) { return std::isdigit(c); });
}

bool is_trunk(const MapLink& link) {
  return !is_replica(link.from) && !is_replica(link.to);
}

std::vector<MapLink> read_links(const std::string& case_folder) {
  std::vector<MapLink> links;
  std::map<std::string, std::size_t, std::less<>> place;
  CsvStream network(case_folder + "/network.csv",
                    {"link", "from", "to", "rate_forward_bps", "rate_backward_bps"});
  while (network.next()) {
    MapLink link{
        std::string(network.text(0)), std::string(network.text(1)), std::string(network.text(2)), {}};
    for (std::size_t i = 0; i < 2; ++i)
      if (!network.empty(3 + i)) link.directions[i].rate_bps = network.number(3 + i);
    place[link.name] = links.size();
    links.push_back(std::move(link));
  }
  const std::string file = case_folder + "/links.csv";
  for (CsvStream loads(file, {"link", "direction", "bytes", "busy_s"}); loads.next();) {
    const auto known = place.find(loads.text(0));
    if (known == place.end())
      throw DamagedFile(fmt::format("{}: the link {} is not in network.csv", file, loads.text(0)));
    Direction& direction = links[known->second].directions[loads.text(1) == "forward" ? 0 : 1];
    direction.bytes = loads.number(2);
    direction.busy_s = loads.number(3);
  }
  return links;
}

Json bottleneck_json(const std::vector<MapLink>& links) {
  double longest_s = 0;
  for (const MapLink& link : links) longest_s = std::max(longest_s, link.busy_s());
  const MapLink* worst = nullptr;
  std::size_t direction = 0;
  int alike = -1;  // itself
  for (const MapLink& link : links)
    for (std::size_t i = 0; i < 2; ++i) {
      const Direction& one = link.directions[i];
      if (one.busy_s == 0 || one.busy_s < 0.99 * longest_s) continue;
      ++alike;
      if (worst && one.full() <= worst->directions[direction].full()) continue;
      worst = &link;
      direction = i;
    }
  if (!worst) return nullptr;
  const Direction& one = worst->directions[direction];
  return {{"link", worst->name},
          {"direction", direction == 0 ? "forward" : "backward"},
          {"busy_s", six_digits(one.busy_s)},
          {"full", one.rate_bps ? Json(six_digits(one.full())) : Json(nullptr)},
          {"alike", alike}};
}

Json direction_json(const Direction& direction) {
  if (direction.bytes == 0) return nullptr;
  return {six_digits(direction.bytes), six_digits(direction.busy_s), six_digits_or_null(direction.rate_bps)};
}

// Trunks first, then what was busy longest.
void keep(std::vector<MapLink>& links, std::size_t most) {
  std::stable_sort(links.begin(), links.end(), [](const MapLink& a, const MapLink& b) {
    if (is_trunk(a) != is_trunk(b)) return is_trunk(a);
    return a.busy_s() > b.busy_s();
  });
  if (links.size() > most) links.resize(most);
}

}  // namespace

Json network_map(const std::string& case_folder, std::size_t most) {
  for (const char* file : {"/network.csv", "/links.csv"})
    if (!std::filesystem::exists(case_folder + file)) return nullptr;
  std::vector<MapLink> links = read_links(case_folder);
  Json map = {{"nodes", Json::array()},
              {"replicas", Json::array()},
              {"links", Json::array()},
              {"bottleneck", bottleneck_json(links)}};
  const std::size_t all = links.size();
  keep(links, most);
  map["left_out"] = all - links.size();
  std::map<std::string, std::size_t> numbers;
  const auto number = [&](const std::string& node) {
    const auto [entry, is_new] = numbers.emplace(node, numbers.size());
    if (is_new) {
      map["nodes"].push_back(node);
      if (is_replica(node)) map["replicas"].push_back(entry->second);
    }
    return entry->second;
  };
  for (const MapLink& link : links) {
    const std::size_t from = number(link.from), to = number(link.to);
    map["links"].push_back(
        {from, to, direction_json(link.directions[0]), direction_json(link.directions[1])});
  }
  return map;
}

Json busiest_links(const std::string& case_folder, std::size_t count) {
  const std::string file = case_folder + "/links.csv";
  if (!std::filesystem::exists(file)) return nullptr;
  std::vector<Load> loads;
  double total = 0;
  for (CsvStream rows(file, {"link", "direction", "bytes", "busy_s"}); rows.next();) {
    if (rows.number(2) == 0) continue;
    loads.push_back({std::string(rows.text(0)), std::string(rows.text(1)), rows.number(2), rows.number(3)});
    total += loads.back().bytes;
  }
  std::stable_sort(loads.begin(), loads.end(),
                   [](const Load& a, const Load& b) { return a.bytes > b.bytes; });
  Json links = {{"total_bytes", six_digits(total)}, {"used", loads.size()}, {"busiest", Json::array()}};
  for (std::size_t i = 0; i < std::min(count, loads.size()); ++i)
    links["busiest"].push_back({{"link", loads[i].link},
                                {"direction", loads[i].direction},
                                {"bytes", six_digits(loads[i].bytes)},
                                {"busy_s", six_digits(loads[i].busy_s)}});
  return links;
}

}  // namespace longhaul
