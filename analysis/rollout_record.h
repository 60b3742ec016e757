// What a case record says of its rollouts (core/scenario/rollouts.h), from the tables that a replay leaves.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/scenario/case.h"

namespace longhaul {

// Nothing where the case has none. Throws RunError for tables that are missing or damaged.
void add_rollouts(const Case& config, const std::string& case_folder, Json& record);

}  // namespace longhaul
