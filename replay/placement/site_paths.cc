#include "replay/placement/site_paths.h"

#include <algorithm>

#include "core/base/index.h"
#include "net/tcp/connection.h"

namespace longhaul {

SitePaths::SitePaths(const Topology& blocks, const TcpSpec& tcp) {
  const std::vector<int>& site_of = blocks.site_of();
  for (std::size_t place = 0; place < site_of.size(); ++place) {
    if (place == 0 || site_of[place] != site_of[place - 1]) {
      first_.push_back(static_cast<int>(place));
      places_.push_back(0);
    }
    ++places_.back();
  }
  paths_.resize(first_.size() * first_.size());
  for (std::size_t i = 0; i < first_.size(); ++i)
    for (std::size_t j = 0; j < first_.size(); ++j) {
      if (i == j && places_[i] < 2) continue;
      const int from = first_[i], to = i == j ? from + 1 : first_[j];
      const ConnectionFacts facts = connection_facts(blocks, tcp, from, to);
      paths_[i * first_.size() + j] = {facts.delay_s, 1 / alone_rate(facts, tcp.segment, tcp.connections)};
    }
}

HopCosts SitePaths::hop_costs(double bytes) const {
  const std::size_t size = first_.size();
  HopCosts hops{CostMatrix(size, std::vector<double>(size)), CostMatrix(size, std::vector<double>(size))};
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = i; j < size; ++j) {
      const SitePath& path = paths_[i * size + j];
      hops.latency_s[i][j] = hops.latency_s[j][i] = path.latency_s;
      hops.sending_s[i][j] = hops.sending_s[j][i] = bytes * path.s_per_byte;
    }
  return hops;
}

std::vector<int> SitePaths::places_at(const std::vector<int>& site_of) const {
  std::vector<int> next = first_, places;
  for (const int site : site_of) places.push_back(next[as_index(site)]++);
  return places;
}

std::vector<int> SitePaths::sites_of(const std::vector<int>& places) const {
  std::vector<int> sites;
  for (const int place : places)
    sites.push_back(static_cast<int>(std::upper_bound(first_.begin(), first_.end(), place) - first_.begin()) -
                    1);
  return sites;
}

}  // namespace longhaul
