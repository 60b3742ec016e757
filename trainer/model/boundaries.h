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

struct Boundaries {
  // In ascending order the layers before which the stream passes from one part to the next; the number of
  // layers stands for the last norm.
  std::vector<int> before;
  std::optional<Quantized> activations, gradients;

  // How many parts begin at this layer, the first part not counted: parts without layers are passed too.
  std::int64_t count_before(int layer) const { return std::count(before.begin(), before.end(), layer); }
  bool any() const { return !before.empty() && (activations || gradients); }
};

Boundaries boundaries_of(const PipelinePlan& plan, const BoundarySpec& spec);

template <typename Number>
struct AsFloats {
  const Number* values;
  LONGHAUL_HOST_DEVICE float operator()(std::int64_t i) const { return static_cast<float>(values[i]); }
};

// values ← what is read of their message. `bytes`: room for code.bytes(count).
template <typename Number>
LONGHAUL_HOST_DEVICE void requantize_block(const NumberCode& code, Number* values, std::int64_t count,
                                           std::uint8_t* bytes) {
  write_numbers(code, AsFloats<Number>{values}, count, bytes);
  const NumberReader read(code, bytes);
  for (std::int64_t i = 0; i < count; ++i) values[i] = static_cast<Number>(read(i));
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
