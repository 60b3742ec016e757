#include "trainer/model/initial_weights.h"

#include <algorithm>
#include <cmath>

#include "core/index.h"
#include "core/model_shape.h"
#include "core/random.h"

namespace longhaul {

std::vector<float> initial_weights(const ModelShape& shape, std::uint64_t seed) {
  constexpr double kDeviation = 0.02;
  std::vector<float> row(as_index(shape.parameters()));
  RandomStream stream(seed, Purpose::kInitialWeights);
  for (const Parameter& parameter : parameter_layout(shape)) {
    float* values = row.data() + parameter.offset;
    const double deviation =
        parameter.writes_residual ? kDeviation / std::sqrt(2. * shape.layers) : kDeviation;
    if (parameter.is_norm)
      std::fill(values, values + parameter.size(), 1.f);
    else
      std::generate(values, values + parameter.size(),
                    [&] { return static_cast<float>(deviation * stream.normal()); });
  }
  return row;
}

}  // namespace longhaul
