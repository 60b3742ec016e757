// What the kinds share after which a replica is gone, crash and leave: whose absences, from the scenario or a
// file.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/fault.h"

namespace longhaul {

std::vector<Node> absence_options();

// Throws InputError where there are neither replicas nor a file, or both.
void read_absence(const FaultEntry& entry, Fault& fault);

}  // namespace longhaul
