// Streaming DiLoCo (arXiv 2501.18512, algorithm 2 and section 2.2): the outer step of a fragment is DiLoCo's
// with Nesterov momentum on the mean Δ̄ of what was sent τ steps ago; what has become of the weights since
// then is mixed in:
//
//   v ← μ v + Δ̄;   φ ← φ + η (Δ̄ + μ v);   θ_i ← α θ_i + (1 − α) φ
#include "trainer/updates/diloco.h"

namespace longhaul {
namespace {

struct StreamingStep {
  static constexpr bool kReadsPhi = false;
  DilocoStep outer;
  float mixing;

  LONGHAUL_HOST_DEVICE void operator()(float& theta, float& phi, float& velocity, float delta, float,
                                       float) const {
    float fresh;
    outer(fresh, phi, velocity, delta, 0, 0);
    theta = mixing > 0 ? mixing * theta + (1 - mixing) * fresh : fresh;
  }
};

}  // namespace

std::unique_ptr<Update> make_streaming_diloco_update(const Json& options) {
  return std::make_unique<ColumnwiseOuterUpdate<StreamingStep>>(
      StreamingStep{{options.at("outer_lr"), options.at("outer_momentum"), true}, options.at("mixing")});
}

}  // namespace longhaul
