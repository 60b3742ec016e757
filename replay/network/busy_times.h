// How long each direction of each link carried anything, from the intervals of its messages, which come in
// any order and may overlap: nothing is shared in the analytic fidelity.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "replay/network/link_loads.h"

namespace longhaul {

class BusyTimes {
 public:
  explicit BusyTimes(std::size_t directions) : loads_(directions), open_(directions) {}

  void add(LinkDirection direction, std::int64_t begin_ns, std::int64_t end_ns, std::int64_t bytes);
  // No later message begins before `horizon_ns`: what ended before it is counted and forgotten.
  void count_until(std::int64_t horizon_ns);
  const std::vector<LinkLoad>& loads() const { return loads_; }

 private:
  using Interval = std::pair<std::int64_t, std::int64_t>;

  std::vector<LinkLoad> loads_;
  std::vector<std::vector<Interval>> open_;  // by direction
  std::vector<LinkDirection> used_;          // directions with open intervals
};

}  // namespace longhaul
