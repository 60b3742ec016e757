// Transfers over NCCL, from card to card. Only where the build has its header (LONGHAUL_NCCL).
#pragma once

#include <memory>

#include "trainer/cuda/device_transfers.h"

namespace longhaul {

// All ranks call it together. Null on all of them where two share a GPU, or where one has LONGHAUL_NCCL=0 in
// its environment. Throws RunError where NCCL does not connect them.
std::unique_ptr<DeviceTransfers> make_nccl_transfers(Ranks& ranks);

}  // namespace longhaul
