#include "trainer/optimizer/adamw.h"

#include <cmath>

#include "trainer/replicas/vectorized.h"

namespace longhaul {
namespace {

struct Factors {
  float beta1, rest1, beta2, rest2, scale, keep, rate, correction2, epsilon;
};

LONGHAUL_VECTORIZED void update(const Factors f, std::int64_t count, float* __restrict weights,
                                const float* __restrict gradient, float* __restrict first,
                                float* __restrict second) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float g = f.scale * gradient[i];
    const float m = f.beta1 * first[i] + f.rest1 * g;
    const float v = f.beta2 * second[i] + f.rest2 * (g * g);
    first[i] = m;
    second[i] = v;
    weights[i] = f.keep * weights[i] - f.rate * m / (std::sqrt(v * f.correction2) + f.epsilon);
  }
}

}  // namespace

void adamw_step(const OptimizerSpec& spec, double lr, int step, double scale,
                const std::vector<DecayRange>& ranges, const AdamwRows& rows) {
  Factors f{};
  f.beta1 = static_cast<float>(spec.beta1);
  f.rest1 = static_cast<float>(1 - spec.beta1);
  f.beta2 = static_cast<float>(spec.beta2);
  f.rest2 = static_cast<float>(1 - spec.beta2);
  f.scale = static_cast<float>(scale);
  f.rate = static_cast<float>(lr / (1 - std::pow(spec.beta1, step)));
  f.correction2 = static_cast<float>(1 / (1 - std::pow(spec.beta2, step)));
  f.epsilon = static_cast<float>(kAdamEpsilon);
  for (const DecayRange& range : ranges) {
    f.keep = static_cast<float>(range.decays ? 1 - lr * spec.weight_decay : 1);
    update(f, range.end - range.begin, rows.weights + range.begin, rows.gradient + range.begin,
           rows.first_moment + range.begin, rows.second_moment + range.begin);
  }
}

}  // namespace longhaul
