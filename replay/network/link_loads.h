// What each direction of each link carried: bytes on the wire, and the time in which at least one transfer
// was under way over it (also while its sender waited for acknowledgements).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/index.h"
#include "net/topology.h"

namespace longhaul {

struct LinkLoad {
  std::int64_t bytes = 0;  // with headers, without acknowledgements
  double busy_s = 0;
};

class LinkLoads {
 public:
  explicit LinkLoads(std::size_t directions) : loads_(directions), open_(directions) {}

  void begin(const std::vector<LinkDirection>& path, double now);
  void end(const std::vector<LinkDirection>& path, double now);
  void add_bytes(LinkDirection direction, std::int64_t bytes) { loads_[as_index(direction)].bytes += bytes; }
  const std::vector<LinkLoad>& loads() const { return loads_; }

 private:
  struct Open {
    int transfers = 0;
    double since = 0;
  };

  std::vector<LinkLoad> loads_;
  std::vector<Open> open_;
};

// How long each direction of each link carried anything, from the intervals of its messages, which come in
// any order and may overlap: nothing is shared in the analytic fidelity.
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
