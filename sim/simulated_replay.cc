#include "sim/simulated_replay.h"

#include "core/base/errors.h"
#include "replay/network/analytic_network.h"
#include "sim/network/clock.h"
#include "sim/network/drawn_loads.h"
#include "sim/network/flow_network.h"
#include "sim/network/packet_network.h"

namespace longhaul {

std::unique_ptr<Network> make_network(const NetworkSpec& spec, const Topology& topology,
                                      const std::function<std::vector<std::pair<int, int>>()>& used_ends,
                                      std::uint64_t seed) {
  if (spec.fidelity == "flow" && spec.message_time) {
    if (topology.is_mesh()) return std::make_unique<AnalyticNetwork>(spec, topology, seed, simulator_clock());
    return std::make_unique<DrawnLoads>(spec, topology, seed);
  }
  std::unique_ptr<Variation> variation;
  if (!spec.variation.is_empty()) variation = std::make_unique<Variation>(spec.variation, topology, seed);
  if (spec.fidelity == "flow") {
    auto network = std::make_unique<FlowNetwork>(spec.tcp, topology, seed);
    if (variation) network->vary(std::move(variation));
    return network;
  }
  if (spec.fidelity == "packet")
    return std::make_unique<PacketNetwork>(spec.tcp, topology, used_ends(), seed, std::move(variation));
  throw InputError("network.fidelity", "found \"" + spec.fidelity + "\"", "flow, packet");
}

Json simulated_replay(const Case& config, const Trace& trace, const std::string& folder,
                      ProgressReporter& reporter, const NetworkMaker& network_of) {
  if (config.network.fidelity == "analytic") return analytic_replay(config, trace, folder, reporter);
  return replay(config, trace, folder, reporter, simulator_clock(), network_of);
}

}  // namespace longhaul
