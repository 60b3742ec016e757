#include <algorithm>
#include <filesystem>
#include <map>

#include "analysis/report/network_links.h"
#include "analysis/report/parts.h"
#include "core/base/csv.h"

namespace longhaul {
namespace {

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
