// Slow references for orders of ranks.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/base/index.h"

namespace longhaul {

// The numbers below `count`, once each.
inline bool holds_all(const std::vector<int>& numbers, int count) {
  std::vector<int> all(as_index(count));
  std::iota(all.begin(), all.end(), 0);
  return std::is_permutation(numbers.begin(), numbers.end(), all.begin(), all.end());
}

// A round of a ring over workers at these sites, written out: the mean cost of a hop, or the longest sending.
// `hop`: the latency and the sending between two sites, s.
template <typename Hop>
double written_out_round_s(const std::vector<int>& site_of, const Hop& hop) {
  double sum = 0, longest = 0;
  for (std::size_t i = 0; i < site_of.size(); ++i) {
    const auto [latency_s, sending_s] =
        hop(as_index(site_of[i]), as_index(site_of[(i + 1) % site_of.size()]));
    sum += latency_s + sending_s;
    longest = std::max(longest, sending_s);
  }
  return std::max(sum / static_cast<double>(site_of.size()), longest);
}

// Over all permutations of so many workers at each site, of which the first `kept` stay.
template <typename Cost>
double least_of_all(const std::vector<int>& counts, const Cost& cost, int kept = 0) {
  std::vector<int> site_of;
  for (std::size_t site = 0; site < counts.size(); ++site)
    site_of.insert(site_of.end(), as_index(counts[site]), static_cast<int>(site));
  double least = cost(site_of);
  while (std::next_permutation(site_of.begin() + kept, site_of.end())) least = std::min(least, cost(site_of));
  return least;
}

}  // namespace longhaul
