#include "trainer/optimizer/learning_rate.h"

#include <cmath>

namespace longhaul {

double learning_rate(const OptimizerSpec& spec, int step, int steps) {
  constexpr double kPi = 3.141592653589793;
  if (step <= spec.warmup) return spec.lr * step / spec.warmup;
  const double x = static_cast<double>(step - spec.warmup) / (steps - spec.warmup);
  return spec.min_lr + (spec.lr - spec.min_lr) * (1 + std::cos(kPi * x)) / 2;
}

}  // namespace longhaul
