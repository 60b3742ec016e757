// Weights and data for tests of the decoders, drawn anew from the same streams each time.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "trainer/model/decoder.h"

namespace longhaul {

// Larger than initial weights, so that every part of the model matters. Number: float or double.
template <typename Number>
std::vector<Number> random_weights(const ModelShape& shape, std::uint64_t seed) {
  RandomStream stream(seed, Purpose::kInitialWeights, 1);
  std::vector<Number> weights(as_index(shape.parameters()));
  for (Number& weight : weights) weight = static_cast<Number>(0.4 * stream.normal());
  return weights;
}

inline Batch random_batch(const ModelShape& shape, int sequences, std::uint64_t seed = 5) {
  RandomStream stream(seed, Purpose::kTrainingData);
  Batch batch{sequences, {}};
  for (int i = 0; i < sequences * (shape.context + 1); ++i)
    batch.tokens.push_back(static_cast<std::int64_t>(stream.below(as_index(shape.vocabulary))));
  return batch;
}

}  // namespace longhaul
