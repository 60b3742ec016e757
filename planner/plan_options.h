// What a plan file may say.
#pragma once

#include "core/base/options.h"

namespace longhaul {

// Every option of a plan file, declared once: parser, messages, `longhaul plan --options` and schema come
// from here. What a scenario says too (network, model, methods) is the scenario's own declaration.
Node plan_options(const Node& scenario);

}  // namespace longhaul
