// A single transfer over the network of fidelity flow.
#pragma once

#include <ns3/simulator.h>

#include <memory>

#include "net/topologies/registry.h"
#include "sim/network/clock.h"
#include "sim/network/flow_network.h"

namespace longhaul {

// When it arrives at replica 1 if replica 0 sends it at `begin_s`, on connections never used.
inline double arrival_s(const Case& config, double bytes, double begin_s = 0) {
  const Topology topology = build_topology(config);
  FlowNetwork network(config.network.tcp, topology);
  network.vary(std::make_unique<Variation>(config.network.variation, topology, config.seed));
  double arrived_s = -1;
  const ClockScope scope{simulator_clock()};
  after(begin_s, [&] {
    network.send({0, 1, static_cast<std::int64_t>(bytes)}, [&] { arrived_s = now_s(); });
  });
  ns3::Simulator::Run();
  return arrived_s;
}

}  // namespace longhaul
