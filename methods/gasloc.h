// For which α the disagreement between GASLoC's replicas stays bounded.
#pragma once

#include <string>

namespace longhaul {

// Without gradients, and with the deviations x of the replicas from their mean, an outer step is
//
//   x(t + 1) = (1 + γ) x(t) − α Λ(t) x(t) − γ x(t − 1),      0 ≤ γ < 1
//
// A fixed graph (`ring`, `complete`): on an eigenvector of Λ with the eigenvalue λ that is z² − (1 + γ − αλ)
// z
// + γ = 0, whose roots are inside the unit circle for 0 < αλ < 2(1 + γ). So α is in (0, 2(1 + γ)/λ), with the
// largest λ: (2 − 2 cos(2π⌊N/2⌋/N))/3 of the ring, at most 4/3, and 1 of the complete graph.
//
// A graph whose places are drawn anew (`matching`, `two-matchings`, `expander`): in the mean over draws. No
// replica is preferred, so on deviations E Λ = E Λ² = k with k = (trace of Λ)/(N − 1): ⌊N/2⌋/(N − 1) of a
// matching, N d/((d + 1)(N − 1)) with d neighbours each. (A graph with the weight 1/(d + 1) on each edge has
// the trace of Λ² equal to that of Λ.) The moments E|x(t)|², E⟨x(t), x(t − 1)⟩ and E|x(t − 1)|² follow a
// matrix M of 3 × 3 with
//
//   det(1 − M) = αk (2(1 − γ²) − α(1 + γ − 2γk))
//
// which is positive, and the moments shrink, for α in (0, 2(1 − γ²)/(1 + γ − 2γk)). It is the bound of
// NoLoCo's γ (methods/noloco.h) with α and γ in each other's places.
//
// Returns the upper end; 0 where γ ≥ 1.
double gasloc_alpha_bound(const std::string& graph, double gamma, int replicas);

}  // namespace longhaul
