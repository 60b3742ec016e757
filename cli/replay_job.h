// The job that replays one case, and its trace.
#pragma once

#include <string>

#include "cli/job_pool.h"
#include "cli/run_outputs.h"
#include "core/plan/trace.h"
#include "core/scenario/case.h"

namespace longhaul {

// With what the case's training measured and learned.
Trace full_trace(const RunLayout& layout, const Case& config);

// Writes case.json and trace.jsonl into `folder`, which is made, and names the program that replays them
// there: the one of the case's fidelity, or on the kernel's TCP the hosts of the case's world. `threads`: of
// the processor, which only `linux` uses.
Job replay_job(const Case& config, const Trace& trace, const std::string& folder, bool emulates = false,
               int threads = 1);

}  // namespace longhaul
