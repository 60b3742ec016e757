
#include "analysis/report/network_map.h"

#include <filesystem>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/record_values.h"
#include "analysis/report/network_links.h"
#include "core/base/csv.h"
#include "core/base/errors.h"
#include "core/base/ranges.h"

namespace longhaul {
namespace {

Json direction_json(const LinkDirectionLoad& direction) {
  if (direction.bytes == 0) return nullptr;
  return {six_digits(direction.bytes), six_digits(direction.busy_s), six_digits_or_null(direction.rate_bps)};
}

// A direction of a link.
struct Carrier {
  const NetworkLink* link = nullptr;
  std::size_t direction = 0;

  const LinkDirectionLoad& load() const { return link->directions[direction]; }
};

// Those that carried something: the bottleneck, where it is a trunk all trunks, then the others; each by the
// time in which it was busy, and among equals the fullest first. Beside them how many were busy as long as
// the bottleneck; none where nothing was busy.
std::pair<std::vector<Carrier>, std::optional<int>> by_busy_time(const std::vector<NetworkLink>& links) {
  double longest_s = 0;
  for (const NetworkLink& link : links) longest_s = std::max(longest_s, link.busy_s());
  std::vector<Carrier> used;
  std::optional<Carrier> worst;
  int as_busy = 0;
  for (const NetworkLink& link : links)
    for (std::size_t direction = 0; direction < 2; ++direction) {
      const Carrier one{&link, direction};
      const LinkDirectionLoad& load = one.load();
      if (load.bytes > 0) used.push_back(one);
      if (load.busy_s == 0 || load.busy_s < 0.99 * longest_s) continue;
      ++as_busy;
      if (!worst || load.full() > worst->load().full()) worst = one;
    }
  const bool trunks_first = worst && worst->link->is_trunk();
  const auto rank = [&](const Carrier& one) {
    const bool is_worst = worst && &one.load() == &worst->load();
    return std::make_tuple(!is_worst, trunks_first && !one.link->is_trunk(), -one.load().busy_s,
                           -one.load().full());
  };
  stable_sort(used, [&](const Carrier& a, const Carrier& b) { return rank(a) < rank(b); });
  return {std::move(used), worst ? std::optional(as_busy - 1) : std::nullopt};
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
  stable_sort(links, [](const NetworkLink& a, const NetworkLink& b) {
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
  const auto [used, alike] = by_busy_time(links);
  double total = 0;
  for (const Carrier& carrier : used) total += carrier.load().bytes;
  Json table = {{"total_bytes", six_digits(total)},
                {"used", used.size()},
                {"alike", alike ? Json(*alike) : Json(nullptr)},
                {"rows", Json::array()}};
  for (std::size_t i = 0; i < std::min(count, used.size()); ++i) {
    const LinkDirectionLoad& load = used[i].load();
    table["rows"].push_back({used[i].link->name, used[i].direction == 0 ? "forward" : "backward",
                             six_digits(load.bytes), six_digits(load.busy_s),
                             six_digits_or_null(load.rate_bps)});
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
