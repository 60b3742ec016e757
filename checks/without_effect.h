// What stands in a scenario and does not count.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/scenario.h"

namespace longhaul {

// Keys and operations of a scenario that has passed its checks which change nothing in any of its cases: a
// sentence each, without repeats. In a sweep one case in which a key counts is enough.
std::vector<std::string> without_effect(const Scenario& scenario);

}  // namespace longhaul
