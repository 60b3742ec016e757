// The element-wise parts of a decoder whose replicas are stacked, row by row: what a warp of a GPU does, and
// what one thread does on a CPU. Number is what the matrix products take (float or Bf16); sums, norms and the
// residual stream are float32. Rows count through all tokens of all replicas; `d` before a name is the
// gradient with respect to it. The formulas are those of kernels.h.
//
// Those with a function row<kPack, kKept> go through a row by packs (packs.h); how wide, and how many a lane
// keeps, follows from columns(), the numbers that a pack must divide.
#pragma once

#include <cmath>
#include <cstdint>

#include "trainer/codecs/number_formats.h"
#include "trainer/model/boundaries.h"
#include "trainer/model/packs.h"

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
  LONGHAUL_HOST_DEVICE int columns() const { return static_cast<int>(width); }
  template <int kPack, int kKept, typename Team>
  LONGHAUL_HOST_DEVICE void row(const Team& team, std::int64_t row) const {
    const float* from = embedding + row / rows_a_replica * embedding_stride + token(row, 0) * width;
    float* to = x + row * width;
    each_pack<kPack, kKept>(team, columns(),
                            [&](int, int i) { write_pack<kPack>(to + i, read_pack<kPack>(from + i)); });
  }
};

// The gradient of the embedding, where there are few classes: one_hot [rows, classes] is 1 at the row's
// token. Its transpose times a gradient adds up the gradients of equal tokens in a fixed order.
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

// Where there are many classes: first the row's token by itself,
struct Tokens {
  Embed places;
  std::int32_t* tokens;  // [rows]

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t, std::int64_t row) const {
    tokens[row] = static_cast<std::int32_t>(places.token(row, 0));
  }
};

// then gradient (of replica r at r · stride) += dx of the rows of equal tokens, in ascending order. The first
// row with a token does it for all: a team goes through all tokens of its replica, but each dx is read once.
struct EmbeddingGradient {
  const std::int32_t* tokens;
  const float* dx;
  float* gradient;
  std::int64_t stride, rows_a_replica, width;

  LONGHAUL_HOST_DEVICE int columns() const { return static_cast<int>(width); }
  template <int kPack, int kKept, typename Team>
  LONGHAUL_HOST_DEVICE void row(const Team& team, std::int64_t row) const {
    const std::int64_t replica = row / rows_a_replica;
    const std::int32_t* of_replica = tokens + replica * rows_a_replica;
    const auto rows = static_cast<int>(rows_a_replica),
               own = static_cast<int>(row - replica * rows_a_replica);
    const std::int32_t token = of_replica[own];
    for (int first = 0; first < own; first += kStretch * team.lanes()) {
      bool is_earlier = false;
      LONGHAUL_UNROLL for (int i = 0; i < kStretch; ++i) {
        const int other = first + i * team.lanes() + team.lane();
        if (other < own && of_replica[other] == token) is_earlier = true;
      }
      if (team.which(is_earlier) != 0) return;
    }
    float* to = gradient + replica * stride + token * width;
    Floats<kPack> kept[kRoom<kKept>] = {};
    for (int first = own; first < rows; first += team.lanes()) {
      const int mine = first + team.lane();
      std::uint32_t same = team.which(mine < rows && of_replica[mine] == token);
      for (int other = first; same != 0; same >>= 1, ++other) {
        if ((same & 1) == 0) continue;
        const float* from = dx + (replica * rows_a_replica + other) * width;
        each_pack<kPack, kKept>(team, columns(), [&](int place, int i) {
          const NumberPack<float, kPack> more = read_pack<kPack>(from + i);
          if (kKept > 0) {
            LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) kept[place].at[j] += more[j];
          } else {
            add(to + i, more);
          }
        });
      }
    }
    if (kKept > 0)
      each_pack<kPack, kKept>(team, columns(), [&](int place, int i) {
        NumberPack<float, kPack> sum;
        if constexpr (kPack == 1)
          sum.number = kept[place].at[0];
        else
          LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) sum.words[j] = bits_of(kept[place].at[j]);
        add(to + i, sum);
      });
  }

 private:
  static constexpr int kStretch = 4;

  template <int kPack>
  LONGHAUL_HOST_DEVICE static void add(float* to, const NumberPack<float, kPack>& more) {
    const NumberPack<float, kPack> before = read_pack<kPack>(static_cast<const float*>(to));
    Floats<kPack> sum;
    LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) sum.at[j] = before[j] + more[j];
    write_pack<kPack>(to, sum);
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

  LONGHAUL_HOST_DEVICE int columns() const { return static_cast<int>(width); }
  template <int kPack, int kKept, typename Team>
  LONGHAUL_HOST_DEVICE void row(const Team& team, std::int64_t row) const {
    const float *weights = w + row / rows_a_replica * w_stride, *from = x + row * width;
    const Number* added = y + (y ? row * width : 0);
    float* to = sum + row * width;
    Number* out = normed + row * width;
    const auto read = [&](int i) {
      const NumberPack<float, kPack> numbers = read_pack<kPack>(from + i);
      Floats<kPack> value;
      LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) value.at[j] = numbers[j];
      if (added) {
        const NumberPack<Number, kPack> more = read_pack<kPack>(added + i);
        LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) value.at[j] += more[j];
      }
      return value;
    };
    Floats<kPack> kept[kRoom<kKept>] = {};
    float squares = 0;
    each_pack<kPack, kKept>(team, columns(), [&](int place, int i) {
      const Floats<kPack> value = read(i);
      LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) squares += value.at[j] * value.at[j];
      if (kKept > 0) kept[place] = value;
    });
    const float s = 1 / sqrtf(team.sum(squares) / static_cast<float>(width) + epsilon);
    if (team.lane() == 0) scale[row] = s;
    each_pack<kPack, kKept>(team, columns(), [&](int place, int i) {
      Floats<kPack> value = kKept > 0 ? kept[place] : read(i);
      if (added) write_pack<kPack>(to + i, value);
      const NumberPack<float, kPack> weight = read_pack<kPack>(weights + i);
      LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) value.at[j] = value.at[j] * s * weight[j];
      write_pack<kPack>(out + i, value);
    });
  }
};

// dx ← (accumulates ? dx : 0) + the gradient through the norm; narrow ← dx as the products take it. And the
// gradient of the norm's weights, added up within slices of a replica's rows: partial [replicas · slices,
// width]. A team does a slice, row by row.
template <typename Number>
struct NormBackward {
  const Number* dy;
  const float *x, *w, *scale;
  float* dx;
  Number* narrow;
  float* partial;
  std::int64_t w_stride, rows_a_replica, slices, width;
  bool accumulates;

  LONGHAUL_HOST_DEVICE int columns() const { return static_cast<int>(width); }
  template <int kPack, int kKept, typename Team>
  LONGHAUL_HOST_DEVICE void row(const Team& team, std::int64_t index) const {
    const std::int64_t replica = index / slices, slice = index % slices,
                       begin = replica * rows_a_replica + rows_a_replica * slice / slices,
                       end = replica * rows_a_replica + rows_a_replica * (slice + 1) / slices;
    const float* weights = w + replica * w_stride;
    float* sums = partial + index * width;
    Floats<kPack> kept_sums[kRoom<kKept>] = {};
    for (std::int64_t row = begin; row < end; ++row) {
      const Number* gradients = dy + row * width;
      const float* values = x + row * width;
      float* to = dx + row * width;
      Number* out = narrow + row * width;
      NumberPack<Number, kPack> kept_gradients[kRoom<kKept>] = {};
      NumberPack<float, kPack> kept_values[kRoom<kKept>] = {};
      const float s = scale[row];
      float product = 0;
      each_pack<kPack, kKept>(team, columns(), [&](int place, int i) {
        const NumberPack<Number, kPack> gradient = read_pack<kPack>(gradients + i);
        const NumberPack<float, kPack> value = read_pack<kPack>(values + i),
                                       weight = read_pack<kPack>(weights + i);
        LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) product += gradient[j] * weight[j] * value[j];
        if (kKept > 0) kept_gradients[place] = gradient, kept_values[place] = value;
      });
      const float pull = team.sum(product) * s * s * s / static_cast<float>(width);
      each_pack<kPack, kKept>(team, columns(), [&](int place, int i) {
        const NumberPack<Number, kPack> gradient =
            kKept > 0 ? kept_gradients[place] : read_pack<kPack>(gradients + i);
        const NumberPack<float, kPack> value = kKept > 0 ? kept_values[place] : read_pack<kPack>(values + i),
                                       weight = read_pack<kPack>(weights + i);
        Floats<kPack> result{};
        if (accumulates) {
          const NumberPack<float, kPack> before = read_pack<kPack>(to + i);
          LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) result.at[j] = before[j];
        }
        LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) result.at[j] =
            result.at[j] + s * gradient[j] * weight[j] - pull * value[j];
        write_pack<kPack>(to + i, result);
        write_pack<kPack>(out + i, result);
        Floats<kPack> sum = kept_sums[place];
        if (kKept == 0 && row > begin) {
          const NumberPack<float, kPack> before = read_pack<kPack>(sums + i);
          LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) sum.at[j] = before[j];
        }
        LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) sum.at[j] += gradient[j] * value[j] * s;
        if (kKept > 0)
          kept_sums[place] = sum;
        else
          write_pack<kPack>(sums + i, sum);
      });
    }
    if (kKept > 0)
      each_pack<kPack, kKept>(team, columns(),
                              [&](int place, int i) { write_pack<kPack>(sums + i, kept_sums[place]); });
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

// gate_up [rows, 2 · width] → active [rows, width].
template <typename Number>
struct Swiglu {
  const Number* gate_up;
  Number* active;
  std::int64_t width;

  LONGHAUL_HOST_DEVICE int columns() const { return static_cast<int>(width); }
  template <int kPack, int kKept, typename Team>
  LONGHAUL_HOST_DEVICE void row(const Team& team, std::int64_t row) const {
    const Number *gates = gate_up + row * 2 * width, *ups = gates + width;
    Number* out = active + row * width;
    each_pack<kPack, kKept>(team, columns(), [&](int, int i) {
      const NumberPack<Number, kPack> gate = read_pack<kPack>(gates + i), up = read_pack<kPack>(ups + i);
      Floats<kPack> result;
      LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) result.at[j] = gate[j] / (1 + expf(-gate[j])) * up[j];
      write_pack<kPack>(out + i, result);
    });
  }
};

// In place: gate_up becomes its own gradient.
template <typename Number>
struct SwigluBackward {
  const Number* d_active;
  Number* gate_up;
  std::int64_t width;

  LONGHAUL_HOST_DEVICE int columns() const { return static_cast<int>(width); }
  template <int kPack, int kKept, typename Team>
  LONGHAUL_HOST_DEVICE void row(const Team& team, std::int64_t row) const {
    Number *gates = gate_up + row * 2 * width, *ups = gates + width;
    const Number* gradients = d_active + row * width;
    each_pack<kPack, kKept>(team, columns(), [&](int, int i) {
      const NumberPack<Number, kPack> gate = read_pack<kPack>(gates + i), up = read_pack<kPack>(ups + i),
                                      dy = read_pack<kPack>(gradients + i);
      Floats<kPack> d_gate, d_up;
      LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) {
        const float sigmoid = 1 / (1 + expf(-gate[j]));
        d_gate.at[j] = dy[j] * up[j] * sigmoid * (1 + gate[j] * (1 - sigmoid));
        d_up.at[j] = dy[j] * gate[j] * sigmoid;
      }
      write_pack<kPack>(gates + i, d_gate);
      write_pack<kPack>(ups + i, d_up);
    });
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

  LONGHAUL_HOST_DEVICE int columns() const { return static_cast<int>(classes); }
  template <int kPack, int kKept, typename Team>
  LONGHAUL_HOST_DEVICE void row(const Team& team, std::int64_t row) const {
    Number* values = logits + row * classes;
    const std::int64_t target = places.token(row, 1);
    const float of_target = load(values[target]);
    NumberPack<Number, kPack> kept[kRoom<kKept>] = {};
    const auto read = [&](int place, int i) {
      return kKept > 0 ? kept[place] : read_pack<kPack>(values + i);
    };
    float largest = -INFINITY, sum = 0;
    each_pack<kPack, kKept>(team, columns(), [&](int place, int i) {
      const NumberPack<Number, kPack> numbers = read_pack<kPack>(values + i);
      const float before = largest;
      LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) largest = fmaxf(largest, numbers[j]);
      if (kKept > 0) {
        kept[place] = numbers;
        return;
      }
      // What is not kept is read once for both: the sum is that of exp(number - the largest so far).
      sum *= expf(before - largest);
      LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) sum += expf(numbers[j] - largest);
    });
    const float largest_here = largest;
    largest = team.largest(largest);
    if (kKept > 0)
      each_pack<kPack, kKept>(team, columns(), [&](int place, int) {
        LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) sum += expf(kept[place][j] - largest);
      });
    else if (sum > 0)  // a lane without numbers has no largest one
      sum *= expf(largest_here - largest);
    sum = team.sum(sum);
    if (team.lane() == 0) losses[row] = logf(sum) - (of_target - largest);
    if (scale == 0) return;
    team.sync();  // lane 0 has read the logit of the target, which another overwrites
    each_pack<kPack, kKept>(team, columns(), [&](int place, int i) {
      const NumberPack<Number, kPack> numbers = read(place, i);
      Floats<kPack> gradient;
      LONGHAUL_UNROLL for (int j = 0; j < kPack; ++j) gradient.at[j] =
          scale * (expf(numbers[j] - largest) / sum - (i + j == target ? 1.f : 0.f));
      write_pack<kPack>(values + i, gradient);
    });
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
