// What passes from part to part of a model in stages, as a training sees it where it is quantized: the
// residual stream x [tokens, hidden] of a micro-batch becomes what the next part reads of it, and on the way
// back the gradient of x, at the same place, likewise. Nothing else of the backward pass changes: the
// quantizer counts as the identity there (straight-through, Bengio et al., arXiv 1308.3432).
//
// Blocks are of neighbouring numbers of x, row-major, and begin anew with each micro-batch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/plan/pipeline.h"
#include "trainer/codecs/quantize.h"

namespace longhaul {

// Hops [first, end).
struct HopRange {
  int first = 0, end = 0;
};

struct Boundaries {
  // By hop, in ascending order, the layers before which the stream passes from one part to the next; the
  // number of layers stands for the last norm.
  std::vector<int> before;
  HopFormats activations, gradients;

  // Of the parts that begin at this layer, the first part not counted: parts without layers are passed too.
  HopRange hops_before(int layer) const {
    const auto [first, end] = std::equal_range(before.begin(), before.end(), layer);
    return {static_cast<int>(first - before.begin()), static_cast<int>(end - before.begin())};
  }
  bool any() const { return !before.empty() && (activations.any() || gradients.any()); }
};

// What the backward pass of a call finds out about the quantizers of its activations: by hop the sum over the
// stream of g · (x̂ − x), x̂ what is read of x, g the gradient that comes back for it as the sender reads it.
// It is what the rounding adds to the loss, to first order. LSQ (arXiv 1902.08153, equation 3) takes
// dx̂/ds = round(x/s) − x/s = (x̂ − x)/s for a step size s where nothing is clipped, so that
// dL/ds = rounding / s.
using RoundingEffects = std::vector<double>;

inline Boundaries boundaries_of(const PipelinePlan& plan, const BoundarySpec& spec) {
  Boundaries boundaries{{}, spec.activations, spec.gradients};
  for (int part = 0; part + 1 < plan.part_count(); ++part)
    boundaries.before.push_back(plan.parts[static_cast<std::size_t>(part)].end_layer);
  return boundaries;
}

template <typename Number>
struct AsFloats {
  const Number* values;
  LONGHAUL_HOST_DEVICE float operator[](std::int64_t i) const { return static_cast<float>(values[i]); }
};

// values ← what is read of their message. `bytes`: room for code.bytes(count).
template <typename Number>
LONGHAUL_HOST_DEVICE void requantize_block(const NumberCode& code, Number* values, std::int64_t count,
                                           std::uint8_t* bytes) {
  code.write(AsFloats<Number>{values}, count, bytes);
  code.read(bytes, count, 0, count, values);
}

// The same of blocks; Number is float, or double in the tests.
template <typename Number>
void requantize(const Quantized& codec, Number* values, std::int64_t count) {
  const NumberCode code(codec.numbers);
  std::vector<std::uint8_t> bytes(
      static_cast<std::size_t>(code.bytes(std::min<std::int64_t>(codec.block, count))));
  for (std::int64_t begin = 0; begin < count; begin += codec.block)
    requantize_block(code, values + begin, std::min<std::int64_t>(codec.block, count - begin), bytes.data());
}

}  // namespace longhaul
