// NoLoCo (arXiv 2506.10911, appendix Eq. 32; Eq. 2 prints the sign of β wrongly): after H inner steps an
// outer step within small random groups, whose last term pulls the group's slow weights together.
//
//   Δ̄ = mean of Δ_j over the group;  φ̄ = mean of φ_j over the group
//   δ_i ← α δ_i + β Δ̄ − γ (φ_i − φ̄);   φ_i ← φ_i + δ_i;   θ_i ← φ_i
//
// The φ_i in the γ term is the one that was sent, rounded to the wire format like the others'. So the term
// adds up to zero over the group and is zero where all agree; with the unrounded φ_i it would pull the
// weights onto the grid of the wire format.
#pragma once

#include "trainer/operations/update.h"

namespace longhaul {

struct NolocoStep {
  static constexpr bool kReadsPhi = true, kHasKernel = true;
  float alpha, beta, gamma;

  LONGHAUL_HOST_DEVICE void operator()(float& theta, float& phi, float& momentum, float mean_delta,
                                       float mean_phi, float sent_phi) const {
    momentum = alpha * momentum + beta * mean_delta - gamma * (sent_phi - mean_phi);
    phi += momentum;
    theta = phi;
  }
};

}  // namespace longhaul
