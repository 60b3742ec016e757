// DiLoCo (arXiv 2311.08105): H inner steps, then an all-reduce of Δ = θ − φ and an outer step of SGD with
// Nesterov momentum; by option the heavy-ball momentum of the NoLoCo authors' baseline.
#pragma once

#include "methods/method.h"

namespace longhaul {

Method diloco_method();

}  // namespace longhaul
