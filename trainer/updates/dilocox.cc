// DiLoCoX (arXiv 2506.21263): DiLoCo's outer step (Nesterov) with the mean of the round before,
//
//   v ← μ v + Δ̄(t − 1);   φ ← φ + η (Δ̄(t − 1) + μ v);   θ_i ← φ,      Δ̄(0) = 0
//
// What a round did to θ is in its Δ alone, which is sent when the round ends and used when the next one does.
#include "trainer/updates/diloco.h"

namespace longhaul {

std::unique_ptr<Update> make_dilocox_update(const Json& options) {
  return std::make_unique<ColumnwiseOuterUpdate<DilocoStep>>(
      DilocoStep{options.at("outer_lr"), options.at("outer_momentum"), true});
}

}  // namespace longhaul
