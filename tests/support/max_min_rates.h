// The slow reference of max-min fair sharing (net/sharing/max_min.h): progressive filling of all flows at
// once.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/index.h"
#include "net/sharing/max_min.h"

namespace longhaul {
namespace progressive_filling {

class Filling {
 public:
  Filling(const std::vector<double>& capacity, const std::vector<Flow>& flows)
      : left_(capacity), flows_(flows), weight_(capacity.size()), rates_(flows.size(), -1) {
    for (const Flow& flow : flows_)
      for (const LinkDirection link : *flow.data) weight_[as_index(link)] += flow.weight;
    for (std::size_t link = 0; link < weight_.size(); ++link)
      if (weight_[link] > 0) used_.push_back(link);
  }

  std::vector<double> run() {
    for (std::size_t frozen = 0; frozen < flows_.size();) frozen += freeze_up_to(next_level() * kSameLevel);
    return rates_;
  }

 private:
  bool is_frozen(std::size_t flow) const { return rates_[flow] >= 0; }

  // The level at which a link is full if nothing else stops its flows before.
  double level(std::size_t link) const { return std::max(0., left_[link]) / weight_[link]; }

  double next_level() const {
    double lowest = kUnlimited;
    for (const std::size_t link : used_)
      if (weight_[link] > 0) lowest = std::min(lowest, level(link));
    for (std::size_t i = 0; i < flows_.size(); ++i)
      if (!is_frozen(i)) lowest = std::min(lowest, flows_[i].cap / flows_[i].weight);
    return lowest;
  }

  bool stops_at(const Flow& flow, const std::vector<bool>& is_full, double at) const {
    if (flow.cap / flow.weight <= at) return true;
    return std::any_of(flow.data->begin(), flow.data->end(),
                       [&](LinkDirection link) { return is_full[as_index(link)]; });
  }

  std::size_t freeze_up_to(double at) {
    std::vector<bool> is_full(left_.size());
    for (const std::size_t link : used_) is_full[link] = weight_[link] > 0 && level(link) <= at;
    std::vector<std::size_t> stopped;
    for (std::size_t i = 0; i < flows_.size(); ++i)
      if (!is_frozen(i) && (stops_at(flows_[i], is_full, at) || !std::isfinite(at))) stopped.push_back(i);
    for (const std::size_t i : stopped) freeze(i, at / kSameLevel);
    for (const std::size_t i : stopped) leave_links(flows_[i]);
    return stopped.size();
  }

  void freeze(std::size_t i, double at) {
    const Flow& flow = flows_[i];
    rates_[i] = std::min(flow.cap, flow.weight * at);
    for (const LinkDirection link : *flow.data) left_[as_index(link)] -= rates_[i];
  }

  // Weights are added up again rather than subtracted to zero with a rounding error left over.
  void leave_links(const Flow& left) {
    for (const LinkDirection link : *left.data) {
      weight_[as_index(link)] -= left.weight;
      if (weight_[as_index(link)] < 1e-9) weight_[as_index(link)] = 0;
    }
  }

  std::vector<double> left_;
  const std::vector<Flow>& flows_;
  std::vector<double> weight_;
  std::vector<double> rates_;
  std::vector<std::size_t> used_;
};

// Capacity that data may share when the flows send at `rates`. A tenth is always left: data that starves
// would stop the acknowledgements, too.
inline std::vector<double> without_acks(const std::vector<double>& capacity, const std::vector<Flow>& flows,
                                        const std::vector<double>& rates, double ack_share) {
  std::vector<double> left = capacity;
  for (std::size_t i = 0; i < flows.size(); ++i)
    if (flows[i].acks != nullptr)
      for (const LinkDirection link : *flows[i].acks) left[as_index(link)] -= ack_share * rates[i];
  for (std::size_t link = 0; link < left.size(); ++link)
    left[link] = std::max(left[link], capacity[link] / 10);
  return left;
}

inline bool nearly_equal(const std::vector<double>& a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::abs(a[i] - b[i]) > 1e-10 * a[i]) return false;
  return true;
}

}  // namespace progressive_filling

// The rate of each flow. `ack_share` is what a flow sends back for each unit it sends. The result depends on
// the order of `flows` only by rounding.
//
// The acknowledgements depend on the rates and the rates on what acknowledgements leave: a few per cent of a
// few per cent, so the iteration is at rest after a handful of rounds.
inline std::vector<double> max_min_rates(const std::vector<double>& capacity, const std::vector<Flow>& flows,
                                         double ack_share) {
  using namespace progressive_filling;
  std::vector<double> rates = Filling(capacity, flows).run();
  for (int iteration = 0; iteration < 20 && ack_share > 0; ++iteration) {
    const std::vector<double> left = without_acks(capacity, flows, rates, ack_share);
    const std::vector<double> next = Filling(left, flows).run();
    const bool at_rest = nearly_equal(rates, next);
    rates = next;
    if (at_rest) break;
  }
  return rates;
}

}  // namespace longhaul
