#include "analysis/report/network_links.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <map>

#include "core/base/csv.h"
#include "core/base/errors.h"

namespace longhaul {

bool is_replica(const std::string& node, std::size_t* number) {
  constexpr std::size_t kPrefix = 7, kMostDigits = 9;
  const bool is_one =
      node.rfind("replica", 0) == 0 && node.size() > kPrefix && node.size() <= kPrefix + kMostDigits &&
      std::all_of(node.begin() + kPrefix, node.end(), [](unsigned char c) { return std::isdigit(c); });
  if (is_one && number) *number = std::stoul(node.substr(kPrefix));
  return is_one;
}

double NetworkLink::busy_s() const {
  return std::max(directions[0].busy_s, directions[1].busy_s);
}

bool NetworkLink::is_trunk() const {
  return !from.empty() && !is_replica(from) && !is_replica(to);
}

std::vector<NetworkLink> read_links(const std::string& case_folder) {
  std::vector<NetworkLink> links;
  const std::string file = case_folder + "/links.csv", network_file = case_folder + "/network.csv";
  if (!std::filesystem::exists(file)) return links;
  std::map<std::string, std::size_t, std::less<>> place;
  const bool has_ends = std::filesystem::exists(network_file);
  if (has_ends) {
    CsvStream network(network_file, {"link", "from", "to", "rate_forward_bps", "rate_backward_bps"});
    while (network.next()) {
      NetworkLink link{
          std::string(network.text(0)), std::string(network.text(1)), std::string(network.text(2)), {}};
      for (std::size_t i = 0; i < 2; ++i)
        if (!network.empty(3 + i)) link.directions[i].rate_bps = network.number(3 + i);
      place[link.name] = links.size();
      links.push_back(std::move(link));
    }
  }
  for (CsvStream loads(file, {"link", "direction", "bytes", "busy_s"}); loads.next();) {
    auto known = place.find(loads.text(0));
    if (known == place.end()) {
      if (has_ends)
        throw DamagedFile(fmt::format("{}: the link {} is not in network.csv", file, loads.text(0)));
      known = place.emplace(std::string(loads.text(0)), links.size()).first;
      links.push_back({std::string(loads.text(0)), "", "", {}});
    }
    LinkDirectionLoad& direction = links[known->second].directions[loads.text(1) == "forward" ? 0 : 1];
    direction.bytes = loads.number(2);
    direction.busy_s = loads.number(3);
  }
  return links;
}

}  // namespace longhaul
