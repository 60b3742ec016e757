// Where each parameter of the decoder lies in a row of the arena. Matrices are [out, in], row-major.
//
//   embedding                         [V, h]
//   layers.L.attention.norm           [h]
//   layers.L.attention.{query,key,value,output}  [h, h] each; the first three adjacent: one product [3h, h]
//   layers.L.feed_forward.norm        [h]
//   layers.L.feed_forward.{gate,up}   [ffn, h] each, adjacent: one product [2·ffn, h]
//   layers.L.feed_forward.down        [h, ffn]
//   norm                              [h]
//   output                            [V, h]
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model_shape.h"

namespace longhaul {

struct Parameter {
  std::string name;
  std::int64_t rows = 0, columns = 0;  // rows 1: a vector
  std::int64_t offset = 0;             // of its first element in the row
  bool is_norm = false;
  bool writes_residual = false;  // a projection back into the residual stream

  std::int64_t size() const { return rows * columns; }
};

// In the order of their offsets, without gaps; their sizes add up to shape.parameters().
std::vector<Parameter> parameter_layout(const ModelShape& shape);

}  // namespace longhaul
