#include "sim/simulated_replay.h"

#include <utility>

#include "core/base/errors.h"
#include "replay/flow/make_flow_network.h"
#include "sim/network/clock.h"
#include "sim/network/packet_network.h"

namespace longhaul {

std::unique_ptr<Network> make_network(const NetworkSpec& spec, const Topology& topology,
                                      const std::function<std::vector<std::pair<int, int>>()>& used_ends,
                                      std::uint64_t seed) {
  if (spec.fidelity == "flow") return make_flow_network(spec, topology, simulator_clock(), seed);
  if (spec.fidelity != "packet")
    throw InputError("network.fidelity", "found \"" + spec.fidelity + "\"", "flow, packet");
  std::unique_ptr<Variation> variation;
  if (!spec.variation.is_empty()) variation = std::make_unique<Variation>(spec.variation, topology, seed);
  return std::make_unique<PacketNetwork>(spec.tcp, topology, used_ends(), seed, std::move(variation));
}

Json simulated_replay(const Case& config, const Trace& trace, const std::string& folder,
                      ProgressReporter& reporter, const NetworkMaker& network_of) {
  if (config.network.fidelity == "analytic") return analytic_replay(config, trace, folder, reporter);
  if (config.network.fidelity == "linux") return linux_replay(config, trace, folder, reporter);
  return replay(config, trace, folder, reporter, simulator_clock(), network_of);
}

}  // namespace longhaul
