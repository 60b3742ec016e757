// All collectives, by the names that a scenario and a trace use.
#pragma once

#include <string>
#include <vector>

#include "net/collectives/collective.h"

namespace longhaul {

const std::vector<std::unique_ptr<Collective>>& collectives();

// Throws InputError naming the nearest for a name that is none.
const Collective& find_collective(const std::string& name);

}  // namespace longhaul
