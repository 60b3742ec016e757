#include "replay/network/link_loads.h"

#include "core/index.h"

namespace longhaul {

void LinkLoads::begin(const std::vector<LinkDirection>& path, double now) {
  for (const LinkDirection direction : path) {
    Open& open = open_[as_index(direction)];
    if (open.transfers++ == 0) open.since = now;
  }
}

void LinkLoads::end(const std::vector<LinkDirection>& path, double now) {
  for (const LinkDirection direction : path) {
    const auto i = as_index(direction);
    Open& open = open_[i];
    if (--open.transfers == 0) loads_[i].busy_s += now - open.since;
  }
}

}  // namespace longhaul
