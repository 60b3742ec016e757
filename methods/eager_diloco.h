// For which outer learning rates late outer gradients do not swing up.
#pragma once

namespace longhaul {

// The outer learning rates below it keep eager DiLoCo's mean stable where the inner steps of a round undo a
// displacement of φ wholly (Δ = −φ around the optimum): the eigenvalues of
//
//   Δ̃(t) = Δ̄(t)/N + (1 − 1/N) Δ̄(t − 1);   v ← μ v + Δ̃;   φ ← φ + η (Δ̃ + μ v)
//
// are the roots of z(z − 1)(z − μ) + η (z/N + 1 − 1/N)((1 + μ) z − μ). Without momentum the bound is
// N/(N − 1).
double eager_outer_lr_bound(double momentum, int replicas);

}  // namespace longhaul
