// All-reduce data parallel training: every step each replica's gradient becomes the mean of all gradients,
// and every replica takes the same optimizer step (FSDP in the NoLoCo paper's tables is, in its authors'
// code, this).
//
// Method fsdp has this update too: the gathered weights are the replica's own rows, which all replicas hold
// alike, so gathering moves no number; the runner logs it with the bytes of the shards and asks no update.
// Gathered weights are not rounded to the wire (ZeRO-3 in mixed precision computes with rounded copies).
#include "trainer/operations/update.h"

namespace longhaul {

std::unique_ptr<Update> make_ddp_update(const Json&) {
  return std::make_unique<RowAverage>("gradient", Slot::kGradient);
}

}  // namespace longhaul
