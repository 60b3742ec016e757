// Replays on ns-3 run in a test.
#pragma once

#include "sim/replay/replay.h"
#include "tests/unit/net/replayed.h"

namespace longhaul {

inline Replayed run_replay(const Case& one, const Trace& trace) {
  return run_with(replay, one, trace);
}

}  // namespace longhaul
