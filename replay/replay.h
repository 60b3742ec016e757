// Trace → timeline. Each replica is a state machine on a clock: it computes its inner steps, posts the
// exchanges of a step when its own compute is done, and waits only for those that it needs.
#pragma once

#include <string>

#include "core/case.h"
#include "core/child_main.h"
#include "core/plan/trace.h"
#include "replay/network/network.h"

namespace longhaul {

// Replays `trace` over a network on `clock` and writes the files of docs/formats.md into `folder` (which
// exists). Returns what replay.json holds. Throws InputError (trace and case do not fit), RunError (events
// ran out while an exchange is open; a stalled connection), Interrupted. The clock is closed at the end.
Json replay(const Case& one, const Trace& trace, const std::string& folder, ProgressReporter& reporter,
            Clock& clock, const NetworkMaker& network_of);

// The same with a clock of its own over the network of fidelity `analytic`. Needs no ns-3.
Json analytic_replay(const Case& one, const Trace& trace, const std::string& folder,
                     ProgressReporter& reporter);

}  // namespace longhaul
