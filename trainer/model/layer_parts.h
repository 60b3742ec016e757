// Where the parts of a layer begin in a row of the arena, as core/base/model_shape.h orders them.
#pragma once

#include <cstdint>

#include "core/base/model_shape.h"

namespace longhaul {

// Place: a pointer into a row, or a column.
template <typename Place>
struct LayerParts {
  Place attention_norm, qkv, attention_output, feed_forward_norm, gate_up, down;
};

// The last norm, before the output, stands where the norm of one more layer would.
template <typename Place>
LayerParts<Place> layer_parts(Place row, const ModelShape& s, int layer) {
  const std::int64_t h = s.hidden, f = s.ffn, v = s.vocabulary;
  LayerParts<Place> at{};
  at.attention_norm = row + v * h + layer * (4 * h * h + 3 * h * f + 2 * h);
  at.qkv = at.attention_norm + h;
  at.attention_output = at.qkv + 3 * h * h;
  at.feed_forward_norm = at.attention_output + h * h;
  at.gate_up = at.feed_forward_norm + h;
  at.down = at.gate_up + 2 * f * h;
  return at;
}

}  // namespace longhaul
