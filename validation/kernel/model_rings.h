// The same ring in a fidelity of Longhaul: a star of equal links, measured step times.
#pragma once

#include <string>
#include <vector>

#include "tests/unit/sim/replays.h"
#include "validation/kernel/ring_hosts.h"

namespace longhaul {

// As run_kernel_ring().
inline std::vector<double> run_model_ring(const KernelRing& ring, const std::string& fidelity) {
  Case config = star_case(ring.members, ring.rate, ring.rtt_s);
  config.network.fidelity = fidelity;
  config.workload.step_time.kind = StepTime::Kind::kMeasured;
  config.network.tcp.slow_start_after_idle = ring.slow_start_after_idle;
  if (ring.slice < ring.chunk) config.network.slice = {SliceSpec::Kind::kBytes, ring.slice};
  const auto exchanges = static_cast<int>(ring.compute_s.size());
  Trace trace = single_exchange("ring", ring.members, ring.chunk * ring.members, exchanges);
  trace.measured_s = ring.compute_s;
  const Replayed replayed = run_replay(config, trace);
  std::vector<double> times;
  for (int step = 1; step <= exchanges; ++step) times.push_back(replayed.sync_time_s(step));
  return times;
}

}  // namespace longhaul
