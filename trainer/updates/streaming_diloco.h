// Streaming DiLoCo (arXiv 2501.18512, algorithm 2 and section 2.2): the outer step of a fragment is DiLoCo's
// with Nesterov momentum on the mean Δ̄ of what was sent τ steps ago; what has become of the weights since
// then is mixed in:
//
//   v ← μ v + Δ̄;   φ ← φ + η (Δ̄ + μ v);   θ_i ← α θ_i + (1 − α) φ
#pragma once

#include "trainer/updates/diloco.h"

namespace longhaul {

struct StreamingStep {
  static constexpr bool kReadsPhi = false, kHasKernel = false;
  DilocoStep outer;
  float mixing;

  LONGHAUL_HOST_DEVICE void operator()(float& theta, float& phi, float& velocity, float delta, float,
                                       float) const {
    float fresh;
    outer(fresh, phi, velocity, delta, 0, 0);
    theta = mixed(theta, fresh);
  }

  LONGHAUL_HOST_DEVICE float mixed(float theta, float fresh) const {
    return mixing > 0 ? mixing * theta + (1 - mixing) * fresh : fresh;
  }
};

// Of the options outer_lr, outer_momentum and mixing.
StreamingStep streaming_step(const Json& options);

}  // namespace longhaul
