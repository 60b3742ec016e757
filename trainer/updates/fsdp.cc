// Fully sharded data parallel training: the numerics of ddp. The gathered weights are the replica's own rows,
// which all replicas hold alike, so gathering moves no number; the runner logs it with the bytes of the
// shards and asks no update. Gathered weights are not rounded to the wire (ZeRO-3 in mixed precision computes
// with rounded copies).
#include "trainer/operations/update.h"

namespace longhaul {

std::unique_ptr<Update> make_fsdp_update(const Json&) {
  return average_of_gradients();
}

}  // namespace longhaul
