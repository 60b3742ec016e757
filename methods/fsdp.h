// Fully sharded data parallel training (ZeRO-3, arXiv 1910.02054): the numerics of ddp, but every replica
// keeps only its 1/N of the parameters. Each step gathers them for the forward pass and again for the
// backward pass, and scatters the sum of the gradients: 3(N−1)/N · P · b sent by each replica.
//
// The three follow each other at the end of the step, none overlaps with compute: the bytes are those of
// ZeRO-3, the times an upper bound (implementations gather ahead, layer by layer).
#pragma once

#include "methods/method.h"

namespace longhaul {

Method fsdp_method();

}  // namespace longhaul
