// Gloo, over which torchft's collectives run too.
#pragma once

#include "net/library.h"

namespace longhaul {

Lowering gloo_lowering(const LibraryCall& call);

Library gloo_library();

}  // namespace longhaul
