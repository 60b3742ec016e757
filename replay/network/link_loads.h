// What each direction of each link carried: bytes on the wire, and the time in which at least one transfer
// was under way over it (also while its sender waited for acknowledgements).
#pragma once

#include <cstdint>
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

}  // namespace longhaul
