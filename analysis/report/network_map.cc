#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <vector>

#include "analysis/record_values.h"
#include "analysis/report/network_links.h"
#include "analysis/report/parts.h"
#include "core/base/csv.h"

namespace longhaul {
namespace {

Json direction_json(const LinkDirectionLoad& direction) {
  if (direction.bytes == 0) return nullptr;
  return {six_digits(direction.bytes), six_digits(direction.busy_s), six_digits_or_null(direction.rate_bps)};
}

struct DirectionPlace {
  std::size_t link = 0, direction = 0;
};

// Those that carried something: the bottleneck, where it is a trunk all trunks, then the others; each by the
// time in which it was busy, and among equals the fullest first.
std::vector<DirectionPlace> by_busy_time(const std::vector<NetworkLink>& links,
                                         const std::optional<Bottleneck>& worst) {
  std::vector<DirectionPlace> used;
  for (std::size_t i = 0; i < links.size(); ++i)
    for (std::size_t k = 0; k < 2; ++k)
      if (links[i].directions[k].bytes > 0) used.push_back({i, k});
  const bool trunks_first = worst && links[worst->link].is_trunk();
  const auto is_worst = [&](const DirectionPlace& direction_place) {
    return worst && direction_place.link == worst->link && direction_place.direction == worst->direction;
  };
  std::stable_sort(used.begin(), used.end(), [&](const DirectionPlace& a, const DirectionPlace& b) {
    if (is_worst(a) != is_worst(b)) return is_worst(a);
    const bool trunk_a = trunks_first && links[a.link].is_trunk(),
               trunk_b = trunks_first && links[b.link].is_trunk();
    if (trunk_a != trunk_b) return trunk_a;
    const LinkDirectionLoad &link_direction_load = links[a.link].directions[a.direction],
                            &other = links[b.link].directions[b.direction];
    return link_direction_load.busy_s != other.busy_s ? link_direction_load.busy_s > other.busy_s
                                                      : link_direction_load.full() > other.full();
  });
  return used;
}

// By replica the name of the router that its link leads to; "" for one with none or several.
std::vector<std::string> routers_of(const std::string& case_folder) {
  std::vector<std::string> routers;
  const std::string file = case_folder + "/network.csv";
  if (!std::filesystem::exists(file)) return routers;
  std::vector<int> links;
  for (CsvStream network(file, {"from", "to"}); network.next();) {
    const std::string ends[] = {std::string(network.text(0)), std::string(network.text(1))};
    for (std::size_t i = 0; i < 2; ++i) {
      std::size_t replica = 0;
      if (!is_replica(ends[i], &replica) || replica >= static_cast<std::size_t>(kMostReplicas)) continue;
      if (replica >= routers.size()) {
        routers.resize(replica + 1);
        links.resize(replica + 1, 0);
      }
      routers[replica] = ++links[replica] > 1 || is_replica(ends[1 - i]) ? "" : ends[1 - i];
    }
  }
  return routers;
}

}  // namespace

Json network_map(const std::string& case_folder, std::size_t most) {
  for (const char* file : {"/network.csv", "/links.csv"})
    if (!std::filesystem::exists(case_folder + file)) return nullptr;
  std::vector<NetworkLink> links = read_links(case_folder);
  Json map = {{"nodes", Json::array()}, {"replicas", Json::array()}, {"links", Json::array()}};
  // Trunks first, then what was busy longest.
  std::stable_sort(links.begin(), links.end(), [](const NetworkLink& a, const NetworkLink& b) {
    return a.is_trunk() != b.is_trunk() ? a.is_trunk() : a.busy_s() > b.busy_s();
  });
  map["left_out"] = links.size() - std::min(links.size(), most);
  links.resize(std::min(links.size(), most));
  std::map<std::string, std::size_t> numbers;
  const auto number = [&](const std::string& node) {
    const auto [entry, is_new] = numbers.emplace(node, numbers.size());
    if (is_new) {
      map["nodes"].push_back(node);
      if (is_replica(node)) map["replicas"].push_back(entry->second);
    }
    return entry->second;
  };
  for (const NetworkLink& link : links) {
    const std::size_t from = number(link.from), to = number(link.to);
    map["links"].push_back(
        {from, to, direction_json(link.directions[0]), direction_json(link.directions[1])});
  }
  return map;
}

Json link_table(const std::string& case_folder, std::size_t count) {
  if (!std::filesystem::exists(case_folder + "/links.csv")) return nullptr;
  const std::vector<NetworkLink> links = read_links(case_folder);
  const std::optional<Bottleneck> worst = bottleneck_of(links);
  const std::vector<DirectionPlace> used = by_busy_time(links, worst);
  const double total =
      std::accumulate(used.begin(), used.end(), 0., [&](double sum, const DirectionPlace& direction_place) {
        return sum + links[direction_place.link].directions[direction_place.direction].bytes;
      });
  Json table = {{"total_bytes", six_digits(total)},
                {"used", used.size()},
                {"alike", worst ? Json(worst->alike) : Json(nullptr)},
                {"rows", Json::array()}};
  for (std::size_t i = 0; i < std::min(count, used.size()); ++i) {
    const LinkDirectionLoad& link_direction_load = links[used[i].link].directions[used[i].direction];
    table["rows"].push_back({links[used[i].link].name, used[i].direction == 0 ? "forward" : "backward",
                             six_digits(link_direction_load.bytes), six_digits(link_direction_load.busy_s),
                             six_digits_or_null(link_direction_load.rate_bps)});
  }
  return table;
}

Json sites_of_case(const std::string& case_folder) {
  const std::vector<std::string> routers = routers_of(case_folder);
  std::map<std::string, std::size_t> number;
  Json sites = Json::array(), site_of = Json::array();
  for (const std::string& router : routers) {
    if (router.empty()) {
      site_of.push_back(-1);
      continue;
    }
    const auto [entry, is_new] = number.emplace(router, sites.size());
    if (is_new) sites.push_back(router);
    site_of.push_back(entry->second);
  }
  if (sites.size() < 2 || sites.size() == routers.size()) return nullptr;
  return {{"sites", std::move(sites)}, {"site_of", std::move(site_of)}};
}

}  // namespace longhaul
