// Which other fidelity the networks of a scenario ask for: `linux` where the written one was not measured or
// leaves out what decides, `flow` where it was measured and takes much less time.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/scenario.h"

namespace longhaul {

// A sentence a reason: the fidelity, why, how far both were measured, and what it costs. Of cases that are
// valid.
std::vector<std::string> fidelity_advice(const Scenario& scenario);

}  // namespace longhaul
