// Trace → timeline. Each replica is a state machine on the simulator's event queue: it computes its inner
// steps, posts the exchanges of a step when its own compute is done, and waits only for those whom it needs.
#pragma once

#include <string>

#include "core/case.h"
#include "core/progress.h"
#include "core/trace.h"
#include "sim/network/network.h"

namespace longhaul {

// Replays `trace` over the network of the case and writes the files of docs/formats.md into `folder` (which
// exists). Returns what replay.json holds. Throws InputError (trace and case do not fit), RunError (events
// ran out while an exchange is open; a stalled connection), Interrupted. Uses ns-3's global simulator: one
// replay at a time.
Json replay(const Case& one, const Trace& trace, const std::string& folder, ProgressReporter& reporter,
            const NetworkMaker& network_of = make_network);

}  // namespace longhaul
