// Trace → timeline without a simulator: the fidelity `analytic`, the NoLoCo paper's own latency model
// (arXiv 2506.10911, section on latency, Fig. 5).
//
// Messages do not know of each other, so that a replica's clock after a step follows from the clocks before
// it: the walk goes step by step and needs no events. Times are whole nanoseconds, rounded where the replay
// rounds them, so that with network.message_time on a mesh both give the same tables.
#pragma once

#include <string>

#include "core/case.h"
#include "core/progress.h"
#include "core/trace.h"

namespace longhaul {

// Walks `trace` over the network of the case and writes the files of docs/formats.md into `folder` (which
// exists). Returns what replay.json holds. Throws InputError (trace and case do not fit), RunError,
// Interrupted.
Json analytic_replay(const Case& one, const Trace& trace, const std::string& folder,
                     ProgressReporter& reporter);

}  // namespace longhaul
