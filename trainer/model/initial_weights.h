// Initial weights: the same for every replica, drawn on the host, so that neither device nor number of
// replicas changes them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model_shape.h"

namespace longhaul {

// One row [P]: normal(0, 0.02); projections into the residual stream normal(0, 0.02/sqrt(2·layers)), so that
// its variance does not grow with depth (GPT-2, section 2.3); norms 1.
std::vector<float> initial_weights(const ModelShape& shape, std::uint64_t seed);

}  // namespace longhaul
