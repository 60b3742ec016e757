// Weighted max-min fair sharing with a cap per flow, by progressive filling (Bertsekas and Gallager, Data
// Networks, 6.5.2): all rates grow together, in proportion to their weights, until a link is full or a cap is
// reached.
//
// A flow's acknowledgements load the way back. They are few and fair queueing serves them first, so they take
// their part of a link before data shares the rest, and do not hold their own flow back.
#pragma once

#include <vector>

#include "net/topology.h"

namespace longhaul {

struct Flow {
  const std::vector<LinkDirection>* data = nullptr;  // the path
  const std::vector<LinkDirection>* acks = nullptr;  // the way back; may be null
  double weight = 1;
  double cap = kUnlimited;  // same unit as the capacities
};

// The rate of each flow. `ack_share` is what a flow sends back for each unit it sends. The result depends on
// the order of `flows` only by rounding.
std::vector<double> max_min_rates(const std::vector<double>& capacity, const std::vector<Flow>& flows,
                                  double ack_share);

}  // namespace longhaul
