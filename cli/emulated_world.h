// Runs a program in the world of an emulated case (emulation/world.h).
#pragma once

#include <string>
#include <vector>

#include "core/scenario/case.h"

namespace longhaul {

// The script of the case, checked. Throws InputError without a file.
std::string script_of(const Case& config);

// Writes FOLDER/world.sh and returns the command line that runs `command` once, beside the hosts.
std::vector<std::string> in_world(const Case& config, const std::string& folder,
                                  const std::vector<std::string>& command);

}  // namespace longhaul
