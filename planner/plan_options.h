// Every option of a plan file, declared once: its parser, its messages, `longhaul plan --options` and its
// schema come from here. What a scenario says too (network, model, methods) is the scenario's own
// declaration.
#pragma once

#include "core/base/options.h"

namespace longhaul {

// `scenario`: the declaration of a whole scenario.
Node plan_options(const Node& scenario);

}  // namespace longhaul
