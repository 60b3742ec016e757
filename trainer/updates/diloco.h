// DiLoCo (arXiv 2311.08105, algorithm 1): after H inner steps an outer step of SGD with momentum on the mean
// of Δ_i = θ_i − φ over all replicas, which then all start again from the new φ. The inner Adam state stays
// local.
//
//   Nesterov look-ahead (DiLoCo's own):            v ← μ v + Δ̄;       φ ← φ + η (Δ̄ + μ v);  θ_i ← φ
//   heavy-ball (the NoLoCo authors' baseline):     δ ← μ δ + η Δ̄;     φ ← φ + δ;            θ_i ← φ
#pragma once

#include "trainer/updates/outer_member.h"
#include "trainer/updates/update.h"

namespace longhaul {

struct DilocoParameters {
  double outer_lr = 0.7, outer_momentum = 0.9;
  bool nesterov = true;
};

DilocoParameters diloco_parameters(const Json& options);

// The outer step of one group over columns [begin, end); the members' φ and momentum are equal on entry.
void diloco_outer_step(const DilocoParameters& parameters, const std::vector<OuterMember>& group,
                       std::int64_t begin, std::int64_t end);

std::unique_ptr<Update> make_diloco_update(const DilocoParameters& parameters);

}  // namespace longhaul
