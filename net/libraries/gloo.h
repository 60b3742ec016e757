// How Gloo carries an operation; torchft's collectives run over it.
#pragma once

#include "net/library.h"

namespace longhaul {

Lowering gloo_lowering(const LibraryCall& call);

}  // namespace longhaul
