// Independent replicas: nothing is ever exchanged.
#pragma once

#include "trainer/updates/update.h"

namespace longhaul {

std::unique_ptr<Update> make_independent_update();

}  // namespace longhaul
