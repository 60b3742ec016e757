#include "replay/network/link_loads.h"

#include <algorithm>

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

void BusyTimes::add(LinkDirection direction, std::int64_t begin_ns, std::int64_t end_ns, std::int64_t bytes) {
  const auto i = as_index(direction);
  loads_[i].bytes += bytes;
  if (open_[i].empty()) used_.push_back(direction);
  open_[i].push_back({begin_ns, end_ns});
}

void BusyTimes::count_until(std::int64_t horizon_ns) {
  std::vector<LinkDirection> still_used;
  for (const LinkDirection direction : used_) {
    const auto i = as_index(direction);
    std::sort(open_[i].begin(), open_[i].end());
    std::vector<Interval> merged;
    for (const Interval& one : open_[i])
      if (merged.empty() || one.first > merged.back().second)
        merged.push_back(one);
      else
        merged.back().second = std::max(merged.back().second, one.second);
    std::int64_t busy_ns = 0;
    open_[i].clear();
    for (const Interval& one : merged)
      if (one.second < horizon_ns)
        busy_ns += one.second - one.first;
      else
        open_[i].push_back(one);
    loads_[i].busy_s += static_cast<double>(busy_ns) / 1e9;
    if (!open_[i].empty()) still_used.push_back(direction);
  }
  used_ = std::move(still_used);
}

}  // namespace longhaul
