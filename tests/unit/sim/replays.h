// Replays on ns-3 run in a test.
#pragma once

#include "sim/simulated_replay.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul {

inline Replayed run_replay(const Case& config, const Trace& trace,
                           const NetworkMaker& network_of = make_network) {
  return run_with([&](auto&&... arguments) { return simulated_replay(arguments..., network_of); }, config,
                  trace);
}

}  // namespace longhaul
