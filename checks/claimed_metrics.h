// Claims on numbers that no case of their scenario can have: they would stay undecided.
#pragma once

#include "core/scenario/scenario.h"

namespace longhaul {

// Throws InputError, at the claim's metric or ratio.
void check_claimed_metrics(const Scenario& scenario);

}  // namespace longhaul
