// The shape of a LLaMA-style decoder (RMSNorm, RoPE, SwiGLU, untied output, no biases): where each of its
// parameters lies in the parameter vector, and so its exact parameter count, which decides the bytes on the
// wire. Matrices are [out, in], row-major. With n heads of width d = h / n and k heads of keys and values:
//
//   embedding                         [V, h]
//   layers.L.attention.norm           [h]
//   layers.L.attention.query          [n·d, h]
//   layers.L.attention.{key,value}    [k·d, h] each; where k = n one product with the query, [3h, h]
//   layers.L.attention.{query,key,value}_bias  with qkv_bias, as long as their matrices have rows
//   layers.L.attention.output         [h, n·d]
//   layers.L.feed_forward.norm        [h]
//   layers.L.feed_forward.{gate,up}   [ffn, h] each, adjacent, one product; no gate without `gated`
//   layers.L.feed_forward.down        [h, ffn]
//   norm                              [h]
//   output                            [V, h]; with `tied` it is the embedding
//
// In a layer with E experts of width f there are instead of feed_forward.{gate,up,down}
//   layers.L.feed_forward.router              [E, h]
//   layers.L.feed_forward.experts.{gate,up}   [E, f, h] each
//   layers.L.feed_forward.experts.down        [E, h, f]
//   layers.L.feed_forward.shared.{gate,up,down}  of what every token passes beside them
// With latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1) there are instead of query, key and
// value, for ranks q and c, heads of a + r wide queries (r of them turned) and v wide values
//   layers.L.attention.query_down     [q, h], query_norm [q], query_up [n·(a + r), q]; query without q
//   layers.L.attention.latent_down    [c + r, h], latent_norm [c], latent_up [n·(a + v), c]
//   layers.L.attention.output         [h, n·v]
// `further` weights of a layer (scales of queries and keys, biases, more norms) lie at its end.
//
// The trainer has k = n, d = h / n, gated, untied, without biases; the rest is of models whose bytes travel.
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

// A mixture of experts: in most layers a token passes a few of many feed-forward networks.
struct Experts {
  int count = 0;         // of a layer; 0: no layer has any
  int per_token = 0;     // that compute a token
  int ffn = 0;           // inner width of each
  int shared_ffn = 0;    // of the one that every token passes beside them; 0: none
  int dense_layers = 0;  // the first ones, which have the model's ffn instead
  int every = 1;         // behind these each so-manieth layer has experts, the others ffn
};

struct LatentAttention {
  int rank = 0;        // of keys and values; 0: there is none
  int query_rank = 0;  // 0: queries are not projected down
  int plain = 0;       // width of the part of a head that is not turned
  int turned = 0;      // and of the part that is (rotary embeddings)
  int value = 0;       // width of a head's value
};

struct ModelShape {
  int hidden = 0;
  int layers = 0;
  int heads = 0;
  int ffn = 0;      // inner width of SwiGLU
  int context = 0;  // tokens in a sequence
  int vocabulary = 0;
  int kv_heads = 0;    // of keys and values, each for heads / kv_heads queries; 0: as many as heads
  int head_width = 0;  // 0: hidden / heads
  bool gated = true, tied = false, qkv_bias = false;
  Experts experts = {};
  LatentAttention latent = {};
  int further = 0;  // weights of each layer that nothing else names

  int key_heads() const { return kv_heads > 0 ? kv_heads : heads; }
  int width_of_head() const { return head_width > 0 ? head_width : hidden / heads; }
  bool has_experts(int layer) const;
  // Weights of matrices that compute a token, of a layer on average: 2·h·d·(n + k) + 3·h·ffn, or 2·h·ffn
  // without a gate; of experts those that a token passes, and the router.
  double layer_weights() const;
  // All weights of a layer.
  std::int64_t layer_parameters(int layer) const;
  // What the layout adds up to, in the usual case: 2·V·h (embedding, output) + layers·(4·h² + 3·h·ffn + 2·h)
  // + h
  std::int64_t parameters() const;
  // All but those of experts that do not compute a token.
  std::int64_t active_parameters() const;
  // Throws InputError (path below `path`) unless hidden is a multiple of heads, or a head width is given,
  // heads is one of kv_heads and the head width is even (RoPE), and where parameters() would be above
  // kMostParameters.
  void check(const std::string& path) const;
};

struct Parameter {
  std::string name;
  std::int64_t rows = 0, columns = 0;  // rows 1: a vector
  std::int64_t offset = 0;             // of its first element in the row
  int layer = -1;                      // -1: of none
  bool is_norm = false;
  bool writes_residual = false;  // a projection back into the residual stream
  std::int64_t copies = 1;       // such matrices one behind another, of experts

  std::int64_t size() const { return copies * rows * columns; }
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

}  // namespace longhaul
