// Transfers between the GPUs' memories of the ranks.
#pragma once

#include <memory>
#include <vector>

#include "trainer/device/cuda_device.h"
#include "trainer/ranks/ranks.h"

namespace longhaul {

struct DeviceMove {
  int other;   // rank
  void* data;  // in this GPU's memory
  std::size_t bytes;
  bool is_send;
};

class DeviceTransfers {
 public:
  virtual ~DeviceTransfers() = default;
  // All moves at once, behind what `stream` does already; what follows on it finds them done. Those between
  // the same two ranks meet in the order of the list. Throws RunError as Transfer::wait().
  virtual void run(const std::vector<DeviceMove>& moves, CudaStream stream) = 0;
};

// All ranks make theirs together: over NCCL where each has a GPU of its own and this build has NCCL, through
// host memory and `ranks` elsewhere.
std::unique_ptr<DeviceTransfers> make_device_transfers(Ranks& ranks);

// Over NCCL, from card to card, only where the build has its header (LONGHAUL_NCCL). All ranks call it
// together. Null on all of them where two share a GPU, or where one has LONGHAUL_NCCL=0 in its environment.
// Throws RunError where NCCL does not connect them.
std::unique_ptr<DeviceTransfers> make_nccl_transfers(Ranks& ranks);

// Everyone's `data`, on the GPU, becomes that of rank `from`; as broadcast() of ranks.h.
void broadcast(DeviceTransfers& transfers, const Ranks& ranks, int from, void* data, std::size_t bytes,
               CudaStream stream);

}  // namespace longhaul
