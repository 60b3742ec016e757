// For which γ the disagreement between NoLoCo's replicas stays bounded.
#pragma once

namespace longhaul {

// The exact mean-square bound: γ must be in (0, bound). With k = (1 − 1/n)·N/(N − 1),
// bound = 2(1 − α²)/(1 + α − 2αk); for N → ∞ and n = 2 it is 2(1 − α²). The paper's own range (its appendix)
// is wider and diverges for large α.
double noloco_gamma_bound(double alpha, int group_size, int replicas);

}  // namespace longhaul
