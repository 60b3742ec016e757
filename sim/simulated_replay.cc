#include "sim/simulated_replay.h"

#include "sim/network/clock.h"

namespace longhaul {

Json simulated_replay(const Case& one, const Trace& trace, const std::string& folder,
                      ProgressReporter& reporter, const NetworkMaker& network_of) {
  if (one.network.fidelity == "analytic") return analytic_replay(one, trace, folder, reporter);
  return replay(one, trace, folder, reporter, simulator_clock(), network_of);
}

}  // namespace longhaul
