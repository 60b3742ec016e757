#include "net/replay/link_loads.h"

namespace longhaul {

void LinkLoads::begin(const std::vector<LinkDirection>& path, double now) {
  for (const LinkDirection direction : path) {
    const auto i = static_cast<std::size_t>(direction);
    if (open_[i]++ == 0) since_[i] = now;
  }
}

void LinkLoads::end(const std::vector<LinkDirection>& path, double now) {
  for (const LinkDirection direction : path) {
    const auto i = static_cast<std::size_t>(direction);
    if (--open_[i] == 0) loads_[i].busy_s += now - since_[i];
  }
}

}  // namespace longhaul
