// The links of one case with what they carried, for the map and the table of links.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace longhaul {

// Whether a node is "replica12"; then `number` is 12.
bool is_replica(const std::string& node, std::size_t* number = nullptr);

struct LinkDirectionLoad {
  double bytes = 0, busy_s = 0;    // on the wire
  std::optional<double> rate_bps;  // none: no limit of its own

  // The share of its rate that it carried while it was busy; 0 without a rate.
  double full() const { return rate_bps && busy_s > 0 ? 8 * bytes / *rate_bps / busy_s : 0; }
};

struct NetworkLink {
  std::string name, from, to;
  std::array<LinkDirectionLoad, 2> directions;  // forward, backward

  double busy_s() const;
  bool is_trunk() const;  // between two nodes that are no replicas
};

// From network.csv and links.csv; without network.csv the links that carried something, with no ends. Empty
// without links.csv. Throws RunError for damaged files.
std::vector<NetworkLink> read_links(const std::string& case_folder);

}  // namespace longhaul
