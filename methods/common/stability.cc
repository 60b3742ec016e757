#include "methods/common/stability.h"

namespace longhaul {

double noloco_gamma_bound(double alpha, int group_size, int replicas) {
  const double n = group_size, count = replicas;
  const double k = (1 - 1 / n) * count / (count - 1);
  return 2 * (1 - alpha * alpha) / (1 + alpha - 2 * alpha * k);
}

}  // namespace longhaul
