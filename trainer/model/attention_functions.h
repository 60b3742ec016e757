// The parts of layer_functions.h that are attention's: heads, their rotation, and the softmax.
#pragma once

#include <cmath>
#include <cstdint>

#include "trainer/model/layer_functions.h"
#include "trainer/model/packs.h"

namespace longhaul::layer {

// How tokens [rows, heads · width] and heads [sequences, heads, context, width] lie to each other. by_token:
// a tensor of heads is [sequences, context, heads, width], in the order of the tokens.
struct Heads {
  std::int64_t context, heads, width;
  bool by_token = false;

  LONGHAUL_HOST_DEVICE std::int64_t place(std::int64_t row, std::int64_t head) const {
    return by_token ? (row * heads + head) * width
                    : ((row / context * heads + head) * context + row % context) * width;
  }
  // Of neighbouring heads of a row.
  LONGHAUL_HOST_DEVICE std::int64_t stride() const { return by_token ? width : context * width; }
};

// Pairs of numbers (i, i + width/2) of a head turned by the angle of their place.
template <int kPack>
struct Turn {
  Floats<kPack> cosine, sine;

  LONGHAUL_HOST_DEVICE Turn(const float* cosines, const float* sines, float scale) {
    const NumberPack<float, kPack> c = read_pack<kPack>(cosines), s = read_pack<kPack>(sines);
    LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) cosine.at[j] = c[j] * scale, sine.at[j] = s[j] * scale;
  }
  LONGHAUL_HOST_DEVICE Turn scaled(float scale) const {
    Turn other = *this;
    LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) other.cosine.at[j] *= scale, other.sine.at[j] *= scale;
    return other;
  }
  // `half`: from one number of a pair to the other, the same in both.
  template <typename Number>
  LONGHAUL_HOST_DEVICE void turn(const Number* from, Number* to, int half) const {
    const NumberPack<Number, kPack> a = read_pack<kPack>(from), b = read_pack<kPack>(from + half);
    Floats<kPack> first, second;
    LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) {
      first.at[j] = a[j] * cosine.at[j] - b[j] * sine.at[j];
      second.at[j] = b[j] * cosine.at[j] + a[j] * sine.at[j];
    }
    write_pack<kPack>(to, first);
    write_pack<kPack>(to + half, second);
  }
};

template <int kPack, typename Number>
LONGHAUL_HOST_DEVICE LONGHAUL_ALWAYS_INLINE void copy_pack(const Number* from, Number* to) {
  write_pack<kPack>(to, read_pack<kPack>(from));
}

// In place, qkv [rows, 3 · h]: queries and keys turned by the rotary angles, queries scaled too.
template <typename Number>
struct TurnHeads {
  Heads heads;
  Number* qkv;
  const float *cosine, *sine;  // [context, width/2]
  float query_scale;

  LONGHAUL_HOST_DEVICE int columns() const { return static_cast<int>(heads.width / 2); }
  LONGHAUL_HOST_DEVICE int numbers() const { return static_cast<int>(heads.heads) * columns(); }
  template <int kPack, int kKept, typename Team>
  LONGHAUL_HOST_DEVICE void row(const Team& team, std::int64_t row) const {
    const int half = columns(), hidden = 2 * numbers();
    const std::int64_t angles = row % heads.context * half;
    Number* numbers_of_row = qkv + row * 3 * hidden;
    each_pack<kPack, kKept>(team, numbers(), [&](int, int pair) {
      const int head = pair / half, i = pair - head * half;
      const Turn<kPack> turn(cosine + angles + i, sine + angles + i, 1);
      Number* at = numbers_of_row + head * 2 * half + i;
      turn.scaled(query_scale).turn(at, at, half);
      turn.turn(at + hidden, at + hidden, half);
    });
  }
};

// qkv [rows, 3 · h] → q, k, v by heads, turned and scaled likewise.
template <typename Number>
struct SplitHeads {
  Heads heads;
  const Number* qkv;
  Number *q, *k, *v;
  const float *cosine, *sine;  // [context, width/2]
  float query_scale;

  LONGHAUL_HOST_DEVICE int columns() const { return static_cast<int>(heads.width / 2); }
  LONGHAUL_HOST_DEVICE int numbers() const { return static_cast<int>(heads.heads) * columns(); }
  template <int kPack, int kKept, typename Team>
  LONGHAUL_HOST_DEVICE void row(const Team& team, std::int64_t row) const {
    const int half = columns(), hidden = 2 * numbers();
    const std::int64_t angles = row % heads.context * half, place = heads.place(row, 0),
                       stride = heads.stride();
    const Number* numbers_of_row = qkv + row * 3 * hidden;
    each_pack<kPack, kKept>(team, numbers(), [&](int, int pair) {
      const int head = pair / half, i = pair - head * half;
      const Turn<kPack> turn(cosine + angles + i, sine + angles + i, 1);
      const Number* from = numbers_of_row + head * 2 * half + i;
      const std::int64_t to = place + head * stride + i;
      turn.scaled(query_scale).turn(from, q + to, half);
      turn.turn(from + hidden, k + to, half);
      copy_pack<kPack>(from + 2 * hidden, v + to);
      copy_pack<kPack>(from + 2 * hidden + half, v + to + half);
    });
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

  LONGHAUL_HOST_DEVICE int columns() const { return static_cast<int>(heads.width / 2); }
  LONGHAUL_HOST_DEVICE int numbers() const { return static_cast<int>(heads.heads) * columns(); }
  template <int kPack, int kKept, typename Team>
  LONGHAUL_HOST_DEVICE void row(const Team& team, std::int64_t row) const {
    const int half = columns(), hidden = 2 * numbers();
    const std::int64_t angles = row % heads.context * half, place = heads.place(row, 0),
                       stride = heads.stride();
    Number* numbers_of_row = d_qkv + row * 3 * hidden;
    each_pack<kPack, kKept>(team, numbers(), [&](int, int pair) {
      const int head = pair / half, i = pair - head * half;
      Turn<kPack> back(cosine + angles + i, sine + angles + i, 1);
      LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) back.sine.at[j] = -back.sine.at[j];
      const std::int64_t from = place + head * stride + i;
      Number* to = numbers_of_row + head * 2 * half + i;
      back.scaled(query_scale).turn(dq + from, to, half);
      back.turn(dk + from, to + hidden, half);
      copy_pack<kPack>(dv + from, to + 2 * hidden);
      copy_pack<kPack>(dv + from + half, to + 2 * hidden + half);
    });
  }
};

// One tensor between tokens [rows, h] and heads, without turning.
template <typename Number>
struct MoveHeads {
  Heads heads;
  const Number* from;
  Number* to;
  bool into_heads;

  LONGHAUL_HOST_DEVICE int columns() const { return static_cast<int>(heads.width); }
  LONGHAUL_HOST_DEVICE int numbers() const { return static_cast<int>(heads.heads) * columns(); }
  template <int kPack, int kKept, typename Team>
  LONGHAUL_HOST_DEVICE void row(const Team& team, std::int64_t row) const {
    const std::int64_t place = heads.place(row, 0), stride = heads.stride();
    const int width = columns();
    each_pack<kPack, kKept>(team, numbers(), [&](int, int i) {
      const int head = i / width;
      const std::int64_t by_head = place + head * stride + (i - head * width), by_token = row * numbers() + i;
      if (into_heads)
        copy_pack<kPack>(from + by_token, to + by_head);
      else
        copy_pack<kPack>(from + by_head, to + by_token);
    });
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
    const int width = static_cast<int>(context), length = static_cast<int>(row % context) + 1;
    float largest = -INFINITY, sum = 0;
    for (int i = team.lane(); i < length; i += team.lanes()) largest = fmaxf(largest, load(values[i]));
    largest = team.largest(largest);
    for (int i = team.lane(); i < length; i += team.lanes()) sum += expf(load(values[i]) - largest);
    const float share = 1 / team.sum(sum);
    for (int i = team.lane(); i < width; i += team.lanes())
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
    const int width = static_cast<int>(context), length = static_cast<int>(row % context) + 1;
    float product = 0;
    for (int i = team.lane(); i < length; i += team.lanes()) product += load(p[i]) * load(d[i]);
    product = team.sum(product);
    for (int i = team.lane(); i < width; i += team.lanes())
      store(d[i], i < length ? load(p[i]) * (load(d[i]) - product) : 0.f);
  }
};

}  // namespace longhaul::layer
