// All-reduce data parallel training: g = mean of the gradients, one optimizer step, every step. FSDP in the
// NoLoCo paper's tables is, in its authors' code, this.
#pragma once

#include "methods/method.h"

namespace longhaul {

Method ddp_method();

}  // namespace longhaul
