// For which γ the disagreement between NoLoCo's replicas stays bounded.
#pragma once

namespace longhaul {

// The exact mean-square bound: γ must be in (0, bound). With k = ⌊N/n⌋·(n − 1)/(N − 1), the mean share of the
// disagreement that a draw of groups takes away, bound = 2(1 − α²)/(1 + α − 2αk). For n = 2 k is 1/2 where N
// is odd, and N/(2(N − 1)) where it is even; so for odd N, and for N → ∞, it is 2(1 − α²). The paper's own
// range (its appendix) is wider and diverges for large α.
double noloco_gamma_bound(double alpha, int group_size, int replicas);

}  // namespace longhaul
