#include "replay/flow/make_flow_network.h"

#include <utility>

#include "net/variation/variation.h"
#include "replay/flow/drawn_loads.h"
#include "replay/flow/flow_network.h"
#include "replay/network/analytic_network.h"

namespace longhaul {

std::unique_ptr<Network> make_flow_network(const NetworkSpec& spec, const Topology& topology,
                                           FlowClock& clock, std::uint64_t seed) {
  if (spec.message_time) {
    if (topology.is_mesh()) return std::make_unique<AnalyticNetwork>(spec, topology, seed, clock);
    return std::make_unique<DrawnLoads>(spec, topology, clock, seed);
  }
  auto network = std::make_unique<FlowNetwork>(spec.tcp, topology, clock, seed);
  if (!spec.variation.is_empty()) network->vary(std::make_unique<Variation>(spec.variation, topology, seed));
  return network;
}

}  // namespace longhaul
