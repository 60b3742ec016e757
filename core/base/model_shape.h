// The shape of a LLaMA-style decoder (RMSNorm, RoPE, SwiGLU, untied output, no biases): where each of its
// parameters lies in the parameter vector, and so its exact parameter count, which decides the bytes on the
// wire. Matrices are [out, in], row-major.
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

namespace longhaul {

// Columns: a part of the parameter vector, as ranges of it.
struct ColumnRange {
  std::int64_t begin = 0, end = 0;

  std::int64_t size() const { return end - begin; }
};

inline bool operator==(const ColumnRange& a, const ColumnRange& b) {
  return a.begin == b.begin && a.end == b.end;
}

// Ranges in ascending order that do not touch. Empty: the whole vector, however long it is.
using Columns = std::vector<ColumnRange>;

inline std::int64_t column_count(const Columns& columns, std::int64_t parameters) {
  if (columns.empty()) return parameters;
  std::int64_t count = 0;
  for (const ColumnRange& range : columns) count += range.size();
  return count;
}

// The ranges, where the whole vector is one of them.
inline Columns ranges_of(const Columns& columns, std::int64_t parameters) {
  return columns.empty() ? Columns{{0, parameters}} : columns;
}

struct ModelShape {
  int hidden = 0;
  int layers = 0;
  int heads = 0;
  int ffn = 0;      // inner width of SwiGLU
  int context = 0;  // tokens in a sequence
  int vocabulary = 0;

  // What the layout adds up to: 2·V·h (embedding, output) + layers·(4·h² + 3·h·ffn + 2·h) + h
  std::int64_t parameters() const;
  // Throws InputError (path below `path`) unless hidden is a multiple of heads and the head width is even
  // (RoPE), and where parameters() would be above kMostParameters.
  void check(const std::string& path) const;
};

struct Parameter {
  std::string name;
  std::int64_t rows = 0, columns = 0;  // rows 1: a vector
  std::int64_t offset = 0;             // of its first element in the row
  int layer = -1;                      // -1: of none
  bool is_norm = false;
  bool writes_residual = false;  // a projection back into the residual stream

  std::int64_t size() const { return rows * columns; }
  bool is_embedding() const { return layer < 0 && !is_norm; }  // or the output
};

// In the order of their offsets, without gaps.
std::vector<Parameter> parameter_layout(const ModelShape& shape);

// Row-major; with one row a vector.
struct MatrixShape {
  std::int64_t rows = 0, columns = 0;
};

inline bool operator==(const MatrixShape& a, const MatrixShape& b) {
  return a.rows == b.rows && a.columns == b.columns;
}

// The parameters that lie in the columns (empty: all), in their order; none where the layout is not known.
// Throws std::logic_error where a range cuts one.
std::vector<MatrixShape> matrices_of(const Columns& columns, const std::vector<Parameter>& layout);

// The columns of each layer, one range each; between embedding and the last norm.
std::vector<ColumnRange> layer_columns(const ModelShape& shape);

struct ModelPreset {
  std::string name;
  ModelShape shape;
  std::string about;
};

// The set-ups of the NoLoCo paper (arXiv 2506.10911), with the vocabulary of its authors' code.
const std::vector<ModelPreset>& model_presets();

}  // namespace longhaul
