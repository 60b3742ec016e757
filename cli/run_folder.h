// The folder that a run writes into.
#pragma once

#include <string>

#include "cli/commands.h"
#include "cli/work_plan.h"
#include "core/scenario/scenario.h"

namespace longhaul {

constexpr char kWholeShard[] = "1/1";

// One that is free, or that holds the same scenario and is to be continued. Throws InputError.
std::string choose_folder(const RunOptions& options, const Scenario& scenario, const WorkPlan& plan);

// What a run has written into its folder; anything else stays.
void remove_run(const std::string& folder);

}  // namespace longhaul
