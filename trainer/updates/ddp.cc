// All-reduce data parallel training: every step each replica's gradient becomes the mean of all gradients,
// and every replica takes the same optimizer step (FSDP in the NoLoCo paper's tables is, in its authors'
// code, this).
#include "trainer/operations/update.h"

namespace longhaul {

std::unique_ptr<Update> make_ddp_update(const Json&) {
  return average_of_gradients();
}

}  // namespace longhaul
