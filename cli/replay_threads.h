// Carries out the replays of a plan in this process, some at a time, each on a thread and a clock of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/live_display.h"
#include "planner/replay_task.h"

namespace longhaul {

// Fills in the times or the error of each task, at most `threads` at once, and shows how far they are. Throws
// Interrupted once all have stopped after a signal (watch_interrupts()).
// `done` hears of each task that has its times, from the thread that made it.
void replay_on_threads(std::vector<ReplayTask>& tasks, int threads, const std::string& phase,
                       LiveDisplay& display, const std::function<void(const ReplayTask&)>& done = {});

}  // namespace longhaul
