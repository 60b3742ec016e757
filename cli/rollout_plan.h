// `longhaul plan` of a scenario with rollouts: every case of its sweep, the choice, and which link to buy.
#pragma once

#include <string>

#include "cli/commands.h"

namespace longhaul {

// Whether the file is a scenario with rollouts. False also for what cannot be read: who reads it says so.
bool is_rollout_plan(const std::string& file);

int plan_rollouts(const PlanOptions& options);

}  // namespace longhaul
