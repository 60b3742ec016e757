// The element-wise parts of a decoder whose replicas are stacked, row by row: what a warp of a GPU does, and
// what one thread does on a CPU. Number is what the matrix products take (float or Bf16); sums, norms and the
// residual stream are float32. Rows count through all tokens of all replicas; `d` before a name is the
// gradient with respect to it. The formulas are those of kernels.h.
#pragma once

#include <cmath>
#include <cstdint>

#include "trainer/codecs/number_formats.h"
#include "trainer/model/boundaries.h"

namespace longhaul::layer {

// x [rows, width] ← embedding of each row's token.
struct Embed {
  const float* embedding;  // of replica r at r · embedding_stride
  const std::int64_t* tokens;
  float* x;
  std::int64_t embedding_stride, token_stride, rows_a_replica, context, width;

  // Where token `offset` after that of the row lies: replicas token_stride apart, sequences context + 1.
  LONGHAUL_HOST_DEVICE std::int64_t token(std::int64_t row, int offset) const {
    const std::int64_t replica = row / rows_a_replica, place = row % rows_a_replica;
    return tokens[replica * token_stride + place / context * (context + 1) + place % context + offset];
  }
  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t row) const {
    const float* from = embedding + row / rows_a_replica * embedding_stride + token(row, 0) * width;
    for (std::int64_t i = team.lane(); i < width; i += team.lanes()) x[row * width + i] = from[i];
  }
};

// one_hot [rows, classes]: 1 at the row's token. Its transpose times a gradient adds up the gradients of
// equal tokens in a fixed order.
template <typename Number>
struct OneHot {
  Embed places;
  Number* one_hot;
  std::int64_t classes;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t token = places.token(row, 0);
    for (std::int64_t i = team.lane(); i < classes; i += team.lanes())
      store(one_hot[row * classes + i], i == token ? 1.f : 0.f);
  }
};

// sum ← x + y (y may be null: then sum is x), normed ← sum · w / rms(sum), scale ← 1/rms.
template <typename Number>
struct AddNorm {
  const float* x;
  const Number* y;
  const float* w;  // of replica r at r · w_stride
  float* sum;
  Number* normed;
  float* scale;
  std::int64_t w_stride, rows_a_replica, width;
  float epsilon;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t row) const {
    const float* weights = w + row / rows_a_replica * w_stride;
    const std::int64_t begin = row * width;
    float squares = 0;
    for (std::int64_t i = begin + team.lane(); i < begin + width; i += team.lanes()) {
      const float value = y ? x[i] + load(y[i]) : x[i];
      if (y) sum[i] = value;
      squares += value * value;
    }
    const float s = 1 / sqrtf(team.sum(squares) / static_cast<float>(width) + epsilon);
    if (team.lane() == 0) scale[row] = s;
    const float* from = y ? sum : x;
    for (std::int64_t i = team.lane(); i < width; i += team.lanes())
      store(normed[begin + i], from[begin + i] * s * weights[i]);
  }
};

// dx ← (accumulates ? dx : 0) + the gradient through the norm; narrow ← dx as the products take it.
template <typename Number>
struct NormBackward {
  const Number* dy;
  const float *x, *w, *scale;
  float* dx;
  Number* narrow;
  std::int64_t w_stride, rows_a_replica, width;
  bool accumulates;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t row) const {
    const float* weights = w + row / rows_a_replica * w_stride;
    const std::int64_t begin = row * width;
    const float s = scale[row];
    float product = 0;
    for (std::int64_t i = team.lane(); i < width; i += team.lanes())
      product += load(dy[begin + i]) * weights[i] * x[begin + i];
    const float pull = team.sum(product) * s * s * s / static_cast<float>(width);
    for (std::int64_t i = team.lane(); i < width; i += team.lanes()) {
      const std::int64_t at = begin + i;
      const float value = (accumulates ? dx[at] : 0) + s * load(dy[at]) * weights[i] - pull * x[at];
      dx[at] = value;
      store(narrow[at], value);
    }
  }
};

// The gradient of a norm's weights, first within slices of rows: partial [replicas · slices, width].
template <typename Number>
struct NormWeightPartial {
  const Number* dy;
  const float *x, *scale;
  float* partial;
  std::int64_t rows_a_replica, slices, width;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t index, std::int64_t column) const {
    const std::int64_t replica = index / slices, slice = index % slices;
    const std::int64_t begin = replica * rows_a_replica + rows_a_replica * slice / slices,
                       end = replica * rows_a_replica + rows_a_replica * (slice + 1) / slices;
    float sum = 0;
    for (std::int64_t row = begin; row < end; ++row)
      sum += load(dy[row * width + column]) * x[row * width + column] * scale[row];
    partial[index * width + column] = sum;
  }
};

// Then over the slices: dw of replica r at r · dw_stride.
struct NormWeightSum {
  const float* partial;
  float* dw;
  std::int64_t dw_stride, slices, width;
  bool accumulates;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t replica, std::int64_t column) const {
    float sum = accumulates ? dw[replica * dw_stride + column] : 0;
    for (std::int64_t slice = 0; slice < slices; ++slice)
      sum += partial[(replica * slices + slice) * width + column];
    dw[replica * dw_stride + column] = sum;
  }
};

// How tokens [rows, heads · width] and heads [sequences, heads, context, width] lie to each other.
struct Heads {
  std::int64_t context, heads, width;

  LONGHAUL_HOST_DEVICE std::int64_t place(std::int64_t row, std::int64_t head) const {
    return ((row / context * heads + head) * context + row % context) * width;
  }
};

// qkv [rows, 3 · h] → q, k, v by heads; queries and keys turned by the rotary angles, queries scaled too.
template <typename Number>
struct SplitHeads {
  Heads heads;
  const Number* qkv;
  Number *q, *k, *v;
  const float *cosine, *sine;  // [context, width/2]
  float query_scale;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t half = heads.width / 2, hidden = heads.heads * heads.width;
    for (std::int64_t pair = team.lane(); pair < heads.heads * half; pair += team.lanes()) {
      const std::int64_t head = pair / half, i = pair % half, to = heads.place(row, head) + i;
      const Number* from = qkv + row * 3 * hidden + head * heads.width + i;
      const float c = cosine[row % heads.context * half + i], s = sine[row % heads.context * half + i];
      turn(load(from[0]), load(from[half]), c * query_scale, s * query_scale, q[to], q[to + half]);
      turn(load(from[hidden]), load(from[hidden + half]), c, s, k[to], k[to + half]);
      v[to] = from[2 * hidden];
      v[to + half] = from[2 * hidden + half];
    }
  }
  LONGHAUL_HOST_DEVICE static void turn(float a, float b, float c, float s, Number& out_a, Number& out_b) {
    store(out_a, a * c - b * s);
    store(out_b, b * c + a * s);
  }
};

// The way back: gradients of q, k, v by heads → d_qkv [rows, 3 · h].
template <typename Number>
struct JoinHeads {
  Heads heads;
  const Number *dq, *dk, *dv;
  Number* d_qkv;
  const float *cosine, *sine;
  float query_scale;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t half = heads.width / 2, hidden = heads.heads * heads.width;
    for (std::int64_t pair = team.lane(); pair < heads.heads * half; pair += team.lanes()) {
      const std::int64_t head = pair / half, i = pair % half, from = heads.place(row, head) + i;
      Number* to = d_qkv + row * 3 * hidden + head * heads.width + i;
      const float c = cosine[row % heads.context * half + i], s = -sine[row % heads.context * half + i];
      SplitHeads<Number>::turn(load(dq[from]), load(dq[from + half]), c * query_scale, s * query_scale, to[0],
                               to[half]);
      SplitHeads<Number>::turn(load(dk[from]), load(dk[from + half]), c, s, to[hidden], to[hidden + half]);
      to[2 * hidden] = dv[from];
      to[2 * hidden + half] = dv[from + half];
    }
  }
};

// One tensor between tokens [rows, h] and heads, without turning.
template <typename Number>
struct MoveHeads {
  Heads heads;
  const Number* from;
  Number* to;
  bool into_heads;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t hidden = heads.heads * heads.width;
    for (std::int64_t i = team.lane(); i < hidden; i += team.lanes()) {
      const std::int64_t by_head = heads.place(row, i / heads.width) + i % heads.width,
                         by_token = row * hidden + i;
      if (into_heads)
        to[by_head] = from[by_token];
      else
        to[by_token] = from[by_head];
    }
  }
};

// In place, matrices [count, context, context]: row t becomes the softmax of its first t + 1 entries.
template <typename Number>
struct CausalSoftmax {
  Number* scores;
  std::int64_t context;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t row) const {
    Number* values = scores + row * context;
    const std::int64_t length = row % context + 1;
    float largest = -INFINITY, sum = 0;
    for (std::int64_t i = team.lane(); i < length; i += team.lanes())
      largest = fmaxf(largest, load(values[i]));
    largest = team.largest(largest);
    for (std::int64_t i = team.lane(); i < length; i += team.lanes()) sum += expf(load(values[i]) - largest);
    const float share = 1 / team.sum(sum);
    for (std::int64_t i = team.lane(); i < context; i += team.lanes())
      store(values[i], i < length ? expf(load(values[i]) - largest) * share : 0.f);
  }
};

// In place: d_weights becomes the gradient of the scores.
template <typename Number>
struct CausalSoftmaxBackward {
  const Number* weights;
  Number* d_weights;
  std::int64_t context;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t row) const {
    const Number* p = weights + row * context;
    Number* d = d_weights + row * context;
    const std::int64_t length = row % context + 1;
    float product = 0;
    for (std::int64_t i = team.lane(); i < length; i += team.lanes()) product += load(p[i]) * load(d[i]);
    product = team.sum(product);
    for (std::int64_t i = team.lane(); i < context; i += team.lanes())
      store(d[i], i < length ? load(p[i]) * (load(d[i]) - product) : 0.f);
  }
};

// gate_up [rows, 2 · width] → active [rows, width].
template <typename Number>
struct Swiglu {
  const Number* gate_up;
  Number* active;
  std::int64_t width;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t row) const {
    const Number *gates = gate_up + row * 2 * width, *ups = gates + width;
    for (std::int64_t i = team.lane(); i < width; i += team.lanes()) {
      const float gate = load(gates[i]);
      store(active[row * width + i], gate / (1 + expf(-gate)) * load(ups[i]));
    }
  }
};

// In place: gate_up becomes its own gradient.
template <typename Number>
struct SwigluBackward {
  const Number* d_active;
  Number* gate_up;
  std::int64_t width;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t row) const {
    Number *gates = gate_up + row * 2 * width, *ups = gates + width;
    for (std::int64_t i = team.lane(); i < width; i += team.lanes()) {
      const float gate = load(gates[i]), up = load(ups[i]), dy = load(d_active[row * width + i]),
                  sigmoid = 1 / (1 + expf(-gate));
      store(gates[i], dy * up * sigmoid * (1 + gate * (1 - sigmoid)));
      store(ups[i], dy * gate * sigmoid);
    }
  }
};

// losses [rows] ← −log softmax(logits)[next token]; in place, logits [rows, classes] become its gradient
// times `scale` (0: they stay).
template <typename Number>
struct CrossEntropy {
  Embed places;
  Number* logits;
  float* losses;
  std::int64_t classes;
  float scale;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t row) const {
    Number* values = logits + row * classes;
    const std::int64_t target = places.token(row, 1);
    const float of_target = load(values[target]);
    float largest = -INFINITY, sum = 0;
    for (std::int64_t i = team.lane(); i < classes; i += team.lanes())
      largest = fmaxf(largest, load(values[i]));
    largest = team.largest(largest);
    for (std::int64_t i = team.lane(); i < classes; i += team.lanes()) sum += expf(load(values[i]) - largest);
    sum = team.sum(sum);
    if (team.lane() == 0) losses[row] = logf(sum) - (of_target - largest);
    if (scale == 0) return;
    for (std::int64_t i = team.lane(); i < classes; i += team.lanes())
      store(values[i], scale * (expf(load(values[i]) - largest) / sum - (i == target ? 1.f : 0.f)));
  }
};

// What passes between parts of the model, over [replicas, blocks]: each replica has `numbers` in `values`, of
// which each `block` is quantized and read again. `bytes`: room for a message of `block_bytes` a block.
struct Requantize {
  NumberCode code;
  float* values;
  std::uint8_t* bytes;
  std::int64_t numbers, block, blocks, block_bytes;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t replica, std::int64_t index) const {
    const std::int64_t left = numbers - index * block;
    requantize_block(code, values + replica * numbers + index * block, left < block ? left : block,
                     bytes + (replica * blocks + index) * block_bytes);
  }
};

// total [replicas] ← (accumulates ? total : 0) + share · the sum of a replica's rows.
struct SumLosses {
  const float* losses;
  double* total;
  std::int64_t rows_a_replica;
  double share;
  bool accumulates;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t replica) const {
    double sum = 0;
    for (std::int64_t i = team.lane(); i < rows_a_replica; i += team.lanes())
      sum += losses[replica * rows_a_replica + i];
    sum = team.sum(sum);
    if (team.lane() == 0) total[replica] = (accumulates ? total[replica] : 0) + share * sum;
  }
};

}  // namespace longhaul::layer
