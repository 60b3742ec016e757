// Weighted max-min fair sharing with a cap per flow, by progressive filling (Bertsekas and Gallager, Data
// Networks, 6.5.2): all rates grow together, in proportion to their weights, until a link is full or a cap is
// reached.
//
// A flow's acknowledgements load the way back. They are few and fair queueing serves them first, so they take
// their part of a link before data shares the rest, and do not hold their own flow back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "net/topology.h"

namespace longhaul {

constexpr double kSameLevel = 1 + 1e-12;  // levels that rounding alone tells apart are one

struct Flow {
  const std::vector<LinkDirection>* data = nullptr;  // the path
  const std::vector<LinkDirection>* acks = nullptr;  // the way back; may be null
  double weight = 1;
  double cap = kUnlimited;  // same unit as the capacities
};

// Progressive filling of one component whose flows weigh the same and have no caps: each round
// one or more links are full, and a flow gets the level of the round in which the first of its links was.
//
// So nothing is kept a flow: links are filled from their lists, and rates are read off at the end. The slow
// reference is FairShares' own filling, whose operations on a link's rest are the same in the same order.
class EqualFilling {
 public:
  explicit EqualFilling(std::size_t directions)
      : left_(directions), weight_(directions), round_(directions) {}

  // `weight` of every flow, a whole number; a level of `lowest_cap` is too high.
  void begin(double weight, double lowest_cap) {
    flow_weight_ = weight;
    lowest_cap_ = lowest_cap;
    open_.clear();
    levels_.clear();
  }
  // A link of the component: what its data may have, and how many flows send over it.
  void add(LinkDirection link, double capacity, std::size_t flows) {
    const auto i = as_index(link);
    left_[i] = capacity;
    weight_[i] = flow_weight_ * static_cast<double>(flows);
    round_[i] = kOpen;
    open_.push_back(link);
  }

  // `visit(link, settle)` calls settle(first, last) with the links of every flow of the link. False: a level
  // reaches lowest_cap.
  template <typename Visit>
  bool fill(const Visit& visit) {
    while (next_round())
      for (const LinkDirection full : full_)
        visit(full, [&](const auto* first, const auto* last) { settle(full, first, last); });
    return is_below_caps_;
  }

  // Of a flow with these links, after fill().
  template <typename Hop>
  double rate(const Hop* first, const Hop* last) const {
    std::uint32_t round = kOpen;
    for (const Hop* hop = first; hop != last; ++hop) round = std::min(round, round_of(hop->link));
    return flow_weight_ * levels_[round];
  }

 private:
  static constexpr std::uint32_t kOpen = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t round_of(LinkDirection link) const { return round_[as_index(link)]; }
  double level(LinkDirection link) const {
    const auto i = as_index(link);
    return std::max(0., left_[i]) / weight_[i];
  }

  // The links that are full next. False: all flows have their level, or a cap could be reached.
  bool next_round() {
    const auto is_closed = [&](LinkDirection link) {
      return round_of(link) != kOpen || weight_[as_index(link)] <= 0;
    };
    open_.erase(std::remove_if(open_.begin(), open_.end(), is_closed), open_.end());
    double lowest = kUnlimited;
    for (const LinkDirection link : open_) lowest = std::min(lowest, level(link));
    const double reached = lowest * kSameLevel;
    is_below_caps_ = open_.empty() || reached < lowest_cap_;
    if (open_.empty() || !is_below_caps_) return false;
    full_.clear();
    for (const LinkDirection link : open_)
      if (level(link) <= reached) full_.push_back(link);
    for (const LinkDirection link : full_)
      round_[as_index(link)] = static_cast<std::uint32_t>(levels_.size());
    levels_.push_back(lowest);
    return true;
  }

  // A flow over several links that are full in this round is settled at the first of them.
  template <typename Hop>
  void settle(LinkDirection full, const Hop* first, const Hop* last) {
    const auto round = static_cast<std::uint32_t>(levels_.size() - 1);
    for (const Hop* hop = first; hop != last; ++hop) {
      if (round_of(hop->link) < round) return;
      if (round_of(hop->link) == round && hop->link != full) {
        if (std::find_if(first, hop, [&](const Hop& earlier) { return earlier.link == full; }) == hop) return;
      }
    }
    const double rate = flow_weight_ * levels_.back();
    for (const Hop* hop = first; hop != last; ++hop) {
      const auto i = as_index(hop->link);
      if (round_[i] != kOpen) continue;
      left_[i] -= rate;
      weight_[i] -= flow_weight_;
    }
  }

  double flow_weight_ = 1, lowest_cap_ = kUnlimited;
  bool is_below_caps_ = true;
  std::vector<double> left_, weight_;  // by link
  std::vector<std::uint32_t> round_;   // by link: in which it was full
  std::vector<LinkDirection> open_, full_;
  std::vector<double> levels_;  // by round
};

// Progressive filling of one component whose flows have weights and caps of their own. Each flow is settled
// once, when its cap or one of its links is reached: by a heap of caps and by the lists of the links.
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
      Rest& remaining = rest(hop.link);
      remaining.left -= rate;
      remaining.weight -= component.weight(flow);
      if (remaining.weight < 1e-9) remaining.weight = 0;
    }
  }

  std::vector<Rest> rests_;                   // by link
  std::vector<double> rates_;                 // by flow; negative: not settled
  std::vector<std::pair<double, int>> caps_;  // over the weight, as a heap
  std::vector<LinkDirection> full_;
};

}  // namespace longhaul
