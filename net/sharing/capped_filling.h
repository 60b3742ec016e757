// Progressive filling of one component (max_min.h) whose flows have weights and caps of their own. Each flow
// is settled once, when its cap or one of its links is reached: by a heap of caps and by the lists of the
// links.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "net/sharing/max_min.h"

namespace longhaul {

class CappedFilling {
 public:
  explicit CappedFilling(std::size_t directions) : rests_(directions) {}

  // `component` says of a flow its cap(), weight() and hops(), which have a `link` each, of a link the
  // capacity() for data and its flows().
  template <typename Component>
  void fill(const std::vector<LinkDirection>& links, const std::vector<int>& flows,
            const Component& component) {
    begin(links, flows, component);
    for (std::size_t settled = 0; settled < flows.size();) {
      while (!caps_.empty() && is_settled(caps_.front().second)) drop_lowest_cap();
      const double level = lowest_level(links), reached = level * kSameLevel;
      full_.clear();
      for (const LinkDirection link : links)
        if (rest(link).weight > 0 && this->level(link) <= reached) full_.push_back(link);
      const auto settle = [&](int flow) {
        if (is_settled(flow)) return;
        freeze(flow, level, component);
        ++settled;
      };
      for (const LinkDirection full : full_)
        for (const int flow : component.flows(full)) settle(flow);
      while (!caps_.empty() && caps_.front().first <= reached) {
        settle(caps_.front().second);
        drop_lowest_cap();
      }
    }
  }
  double rate(int flow) const { return rates_[as_index(flow)]; }

 private:
  struct Rest {
    double left = 0, weight = 0;
  };

  Rest& rest(LinkDirection link) { return rests_[as_index(link)]; }
  double level(LinkDirection link) { return std::max(0., rest(link).left) / rest(link).weight; }
  bool is_settled(int flow) const { return rate(flow) >= 0; }
  void drop_lowest_cap() {
    std::pop_heap(caps_.begin(), caps_.end(), std::greater<>());
    caps_.pop_back();
  }

  template <typename Component>
  void begin(const std::vector<LinkDirection>& links, const std::vector<int>& flows,
             const Component& component) {
    for (const LinkDirection link : links) rest(link) = {component.capacity(link), 0};
    caps_.clear();
    for (const int flow : flows) {
      if (as_index(flow) >= rates_.size()) rates_.resize(as_index(flow) + 1);
      rates_[as_index(flow)] = -1;
      caps_.emplace_back(component.cap(flow) / component.weight(flow), flow);
      for (const auto& hop : component.hops(flow)) rest(hop.link).weight += component.weight(flow);
    }
    std::make_heap(caps_.begin(), caps_.end(), std::greater<>());
  }

  double lowest_level(const std::vector<LinkDirection>& links) {
    double lowest = caps_.empty() ? kUnlimited : caps_.front().first;
    for (const LinkDirection link : links)
      if (rest(link).weight > 0) lowest = std::min(lowest, level(link));
    return lowest;
  }

  template <typename Component>
  void freeze(int flow, double level, const Component& component) {
    const double rate = std::min(component.cap(flow), component.weight(flow) * level);
    rates_[as_index(flow)] = rate;
    for (const auto& hop : component.hops(flow)) {
      Rest& rest_here = rest(hop.link);
      rest_here.left -= rate;
      rest_here.weight -= component.weight(flow);
      if (rest_here.weight < 1e-9) rest_here.weight = 0;
    }
  }

  std::vector<Rest> rests_;                   // by link
  std::vector<double> rates_;                 // by flow; negative: not settled
  std::vector<std::pair<double, int>> caps_;  // over the weight, as a heap
  std::vector<LinkDirection> full_;
};

}  // namespace longhaul
