// The network of an emulated replay: every message of the plan travels over the kernel's own TCP, between the
// processes of its two workers (host.h), in a world that stands (world.h).
//
// The replay decides what is sent when, by the operations and the rounds of collectives as in a simulation: a
// message is handed to its host when both ends are ready. That is told without a message, as in the other
// networks.
#pragma once

#include <string>

#include "core/base/child_main.h"
#include "core/plan/trace.h"
#include "core/scenario/case.h"

namespace longhaul {

// replay() of a case in the world that stands around this process. Throws as replay(), and RunError.
Json emulated_replay(const Case& config, const Trace& trace, const std::string& folder,
                     ProgressReporter& reporter);

}  // namespace longhaul
