// DiLoCo (arXiv 2311.08105, algorithm 1): after H inner steps an outer step of SGD with momentum on the mean
// of Δ_i = θ_i − φ over all replicas, which then all start again from the new φ. The inner Adam state stays
// local.
//
//   Nesterov look-ahead (DiLoCo's own):            v ← μ v + Δ̄;       φ ← φ + η (Δ̄ + μ v);  θ_i ← φ
//   heavy-ball (the NoLoCo authors' baseline):     δ ← μ δ + η Δ̄;     φ ← φ + δ;            θ_i ← φ
#pragma once

#include "trainer/operations/update.h"

namespace longhaul {

struct DilocoStep {
  static constexpr bool kReadsPhi = false, kHasKernel = true;  // all φ are equal
  float lr, momentum;
  bool nesterov;

  LONGHAUL_HOST_DEVICE void operator()(float& theta, float& phi, float& velocity, float delta, float,
                                       float) const {
    velocity = momentum * velocity + (nesterov ? delta : lr * delta);
    phi += nesterov ? lr * (delta + momentum * velocity) : velocity;
    theta = phi;
  }
};

}  // namespace longhaul
