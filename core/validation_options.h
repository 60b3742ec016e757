// The declaration of `validation`: what others measured or published, to be held beside what the scenario
// predicts (longhaul validate).
#pragma once

#include "core/options.h"

namespace longhaul {

Node validation_options();

}  // namespace longhaul
