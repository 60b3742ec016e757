// The slow reference of max-min fair sharing (net/sharing/max_min.h): progressive filling of all flows.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/index.h"
#include "net/sharing/max_min.h"

namespace longhaul {
namespace progressive_filling {

// The rates where acknowledgements take nothing.
inline std::vector<double> filled(const std::vector<double>& capacity, const std::vector<Flow>& flows) {
  std::vector<double> rates(flows.size(), -1);  // negative: it still grows
  for (std::size_t settled = 0; settled < flows.size();) {
    std::vector<double> left = capacity, weight(capacity.size());
    double level = kUnlimited;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      for (const LinkDirection link : *flows[i].data)
        rates[i] < 0 ? weight[as_index(link)] += flows[i].weight : left[as_index(link)] -= rates[i];
      if (rates[i] < 0) level = std::min(level, flows[i].cap / flows[i].weight);
    }
    // The level at which a link is full if nothing else stops its flows before.
    const auto full_at = [&](std::size_t link) { return std::max(0., left[link]) / weight[link]; };
    for (std::size_t link = 0; link < left.size(); ++link)
      if (weight[link] > 0) level = std::min(level, full_at(link));
    const double reached = level * kSameLevel;
    const auto is_full = [&](LinkDirection link) { return full_at(as_index(link)) <= reached; };
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const Flow& flow = flows[i];
      if (rates[i] >= 0) continue;
      if (std::isfinite(level) && flow.cap / flow.weight > reached &&
          std::none_of(flow.data->begin(), flow.data->end(), is_full))
        continue;
      rates[i] = std::min(flow.cap, flow.weight * level);
      ++settled;
    }
  }
  return rates;
}

inline bool nearly_equal(const std::vector<double>& a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::abs(a[i] - b[i]) > 1e-10 * a[i]) return false;
  return true;
}

}  // namespace progressive_filling

// The rate of each flow. `ack_share` is what a flow sends back for each unit it sends. Acknowledgements
// depend on the rates, and the rates on what they leave: a few per cent of a few per cent, soon at rest.
inline std::vector<double> max_min_rates(const std::vector<double>& capacity, const std::vector<Flow>& flows,
                                         double ack_share) {
  using namespace progressive_filling;
  std::vector<double> rates = filled(capacity, flows);
  for (int iteration = 0; iteration < 20 && ack_share > 0; ++iteration) {
    const std::vector<double> before = rates;
    std::vector<double> left = capacity;  // a tenth at least, or data would stop the acknowledgements
    for (std::size_t i = 0; i < flows.size(); ++i)
      if (flows[i].acks != nullptr)
        for (const LinkDirection link : *flows[i].acks) left[as_index(link)] -= ack_share * before[i];
    for (std::size_t link = 0; link < left.size(); ++link)
      left[link] = std::max(left[link], capacity[link] / 10);
    rates = filled(left, flows);
    if (nearly_equal(before, rates)) break;
  }
  return rates;
}

}  // namespace longhaul
