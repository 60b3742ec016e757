// Fully sharded data parallel training: the numerics of ddp. The gathered weights are the replica's own rows,
// which all replicas hold alike, so gathering moves no number; it is logged with the bytes of the shards.
// Gathered weights are not rounded to the wire (ZeRO-3 in mixed precision computes with rounded copies).
#pragma once

#include "trainer/updates/update.h"

namespace longhaul {

std::unique_ptr<Update> make_fsdp_update();

}  // namespace longhaul
