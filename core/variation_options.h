// The declaration of `network.variation`: what of a network changes with time.
#pragma once

#include "core/options.h"

namespace longhaul {

Node variation_options();

}  // namespace longhaul
