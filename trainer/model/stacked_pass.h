// One forward and backward pass of a stack of replicas (stacked_decoder.h): the products are a library's, the
// rest is layer_functions.h's. Included by stacked_decoder.cc alone.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "core/base/index.h"
#include "trainer/device/cuda_device.h"
#include "trainer/device/device_products.h"
#include "trainer/device/flash_attention.h"
#include "trainer/device/torch.h"
#include "trainer/model/decoder.h"
#include "trainer/model/gemm.h"
#include "trainer/model/layer_operators.h"
#include "trainer/model/stacked_decoder.h"

namespace longhaul {
namespace {

using at::Tensor;

// A product with one-hot rows adds up the embedding's gradient at less than a layer's cost for so many
// classes.
constexpr std::int64_t kMostOfOneHot = 1024;

// Slices of a replica's rows in which the gradient of a norm is added up side by side: so many, or one for
// each 16 rows, which are then added up in groups first. They follow from a replica's rows alone, so that
// pieces over replicas change no sum.
constexpr std::int64_t kNormSlices = 64, kNormGroup = 16;

std::int64_t norm_slices_of(std::int64_t rows) {
  const std::int64_t slices = rows / 16 / kNormGroup * kNormGroup;
  return slices > kNormSlices ? slices : std::min(kNormSlices, rows);
}

template <typename Number>
constexpr at::ScalarType kType = std::is_same_v<Number, float> ? at::kFloat : at::kBFloat16;

template <typename Number>
Number* data(const Tensor& tensor) {
  return static_cast<Number*>(tensor.data_ptr());
}

Tensor turned(const Tensor& matrices) {
  return matrices.transpose(1, 2);
}

// Rows of the arena as a tensor. The device is said: to ask for it is no part of a captured graph.
template <typename Number>
Tensor table(Number* rows, std::int64_t count, std::int64_t columns, at::Device device) {
  return at::for_blob(rows, {count, columns})
      .options(at::TensorOptions().dtype(kType<Number>).device(device))
      .target_device(device)
      .make_tensor();
}

// What a pass needs to know and does not change.
struct Setting {
  ModelShape shape;
  at::Device device = at::kCPU;
  bool flash = false;
  std::shared_ptr<DeviceProducts> products = nullptr;  // of bf16 on a GPU
  Tensor cosine, sine;                                 // [context, width of a head / 2]
  Boundaries boundaries = {};
};

// Columns of a row, in the order of layout.h.
struct LayerColumns {
  std::int64_t attention_norm, qkv, attention_output, feed_forward_norm, gate_up, down;
};

LayerColumns columns_of(const ModelShape& s, int layer) {
  const std::int64_t h = s.hidden, f = s.ffn, v = s.vocabulary;
  LayerColumns at{};
  at.attention_norm = v * h + layer * (4 * h * h + 3 * h * f + 2 * h);
  at.qkv = at.attention_norm + h;
  at.attention_output = at.qkv + 3 * h * h;
  at.feed_forward_norm = at.attention_output + h * h;
  at.gate_up = at.feed_forward_norm + h;
  at.down = at.gate_up + 2 * f * h;
  return at;
}

// What the backward pass needs of a layer; N rows are all tokens of all replicas of the piece.
struct LayerState {
  Tensor x, scale1, normed1;  // [N, h] float32, [N], [N, h]: into attention
  // q, k, v, turned by the rotary angles: [3, sequences, heads, context, width], or [N, 3 h] for fused
  // attention.
  Tensor heads;
  Tensor weights;  // [sequences · heads, context, context], or
  FlashAttention flash;
  Tensor mixed;                    // [N, h]
  Tensor middle, scale2, normed2;  // into the feed-forward
  Tensor gate_up, active;          // [N, 2 ffn], [N, ffn]
};

// Forward and backward of `replicas` replicas over `sequences` sequences of each.
template <typename Number>
class Pass {
 public:
  // `weights` [replicas, P] as the products take them; `master` the same rows in the arena.
  Pass(const Setting& setting, const LayerOperators<Number>& operators, const Tensor& weights,
       const float* master, std::int64_t sequences, bool recomputes)
      : setting_(setting),
        recomputes_(recomputes),
        shape_(setting.shape),
        operators_(operators),
        weights_(weights),
        master_(master),
        n_(weights.size(0)),
        t_(shape_.context),
        m_(sequences * t_),
        rows_(n_ * m_),
        sequences_(n_ * sequences),
        p_(shape_.parameters()),
        h_(shape_.hidden),
        f_(shape_.ffn),
        v_(shape_.vocabulary),
        width_(shape_.hidden / shape_.heads),
        layers_(as_index(shape_.layers)) {}

  // losses [replicas] (+)= share · the sum over this piece's tokens; the logits become their gradient, where
  // one follows.
  void forward(const std::int64_t* tokens, std::int64_t token_stride, double share, bool with_gradient,
               double* losses, bool accumulates) {
    keeps_states_ = with_gradient;
    places_ = {master_, tokens, nullptr, p_, token_stride, m_, t_, h_};
    Tensor x = empty_float({rows_, h_});
    layer::Embed embed = places_;
    embed.x = data<float>(x);
    operators_.run(embed, rows_);
    Tensor added;  // what the layer before adds to x
    for (int index = 0; index < shape_.layers; ++index) {
      cross(index, x, added);
      forward(index, x, added);
    }
    cross(shape_.layers, x, added);
    last_ = add_norm(x, added, output_norm_column());
    logits_ = times_transposed(last_.normed, matrix(output_column(), v_, h_));
    const Tensor row_losses = empty_float({rows_});
    operators_.run(layer::CrossEntropy<Number>{places_, data<Number>(logits_), data<float>(row_losses), v_,
                                               with_gradient ? static_cast<float>(share) : 0.f},
                   rows_);
    operators_.run(layer::SumLosses{data<float>(row_losses), losses, m_, share, accumulates}, n_);
  }

  // After forward(): gradient [replicas, P] is overwritten, or added to.
  void backward(float* gradient, bool accumulates) {
    gradient_ = table(gradient, n_, p_, setting_.device);
    accumulates_ = accumulates;
    add_product(output_column(), v_, h_, logits_, last_.normed);
    dx_ = empty_float({rows_, h_});
    narrow_dx_ = empty({rows_, h_});
    norm_backward(times(logits_, matrix(output_column(), v_, h_)), last_, output_norm_column(), false);
    last_ = {};
    cross_back(shape_.layers);
    for (int index = shape_.layers - 1; index >= 0; --index) {
      backward(index);
      state(index) = {};
      cross_back(index);
    }
    add_embedding_gradient();
  }

 private:
  struct Normed {
    Tensor x, scale, normed;
  };

  at::TensorOptions on_device(at::ScalarType type) const {
    return at::TensorOptions().dtype(type).device(setting_.device);
  }
  Tensor empty(at::IntArrayRef sizes) const { return at::empty(sizes, on_device(kType<Number>)); }
  Tensor empty_float(at::IntArrayRef sizes) const { return at::empty(sizes, on_device(at::kFloat)); }
  LayerState& state(int index) { return layers_[as_index(index)]; }

  std::int64_t output_norm_column() const { return columns_of(shape_, shape_.layers).attention_norm; }
  std::int64_t output_column() const { return output_norm_column() + h_; }

  // A matrix of the weights of all replicas [replicas, rows, columns].
  Tensor matrix(std::int64_t column, std::int64_t rows, std::int64_t columns) const {
    return weights_.narrow(1, column, rows * columns).view({n_, rows, columns});
  }
  // [N, columns] as [replicas, rows, columns].
  Tensor by_replica(const Tensor& rows) const { return rows.view({n_, m_, -1}); }
  Tensor flat(const Tensor& stacked) const { return stacked.view({rows_, -1}); }

  Tensor times_transposed(const Tensor& x, const Tensor& w) const {  // x Wᵀ
    return flat(product(by_replica(x), turned(w)));
  }
  Tensor times(const Tensor& dy, const Tensor& w) const { return flat(product(by_replica(dy), w)); }

  // left [replicas, m, k] · right [replicas, k, n]
  Tensor product(const Tensor& left, const Tensor& right) const {
    if (kType<Number> != at::kFloat && setting_.products) {
      const Tensor result = empty({n_, left.size(1), right.size(2)});
      if (multiply_on_device(result, left, right, false)) return result;
    }
    return at::bmm(left, right);
  }
  bool multiply_on_device(const Tensor& result, const Tensor& left, const Tensor& right, bool adds) const {
    const auto operand = [](const Tensor& matrices) {
      const bool transposed = matrices.stride(2) != 1;
      return ProductOperand{matrices.data_ptr(), matrices.stride(transposed ? 2 : 1), matrices.stride(0),
                            transposed};
    };
    return setting_.products->multiply(
        {n_, left.size(1), right.size(2), left.size(2), operand(left), operand(right), result.data_ptr(),
         result.stride(1), result.stride(0), result.scalar_type() == at::kFloat, adds},
        current_cuda_stream());
  }

  // gradient (+)= dyᵀ x
  void add_product(std::int64_t column, std::int64_t rows, std::int64_t columns, const Tensor& dy,
                   const Tensor& x) {
    Tensor target = gradient_.narrow(1, column, rows * columns).view({n_, rows, columns});
    const Tensor left = turned(by_replica(dy)), right = by_replica(x);
    if (kType<Number> != at::kFloat && setting_.products &&
        multiply_on_device(target, left, right, accumulates_))
      return;
    if (kType<Number> != at::kFloat)
      setting_.device.is_cuda() ? bf16_product(target, left, right, accumulates_)
                                : add_on_cpu(target, by_replica(dy), right);
    else if (accumulates_)
      target.baddbmm_(left, right);
    else
      at::bmm_out(target, left, right);
  }

  // In float32: a product in bf16 would be rounded to it.
  void add_on_cpu(const Tensor& target, const Tensor& dy, const Tensor& x) const {
    const std::int64_t rows = dy.size(2), columns = x.size(2);
    for (std::int64_t r = 0; r < n_; ++r) {
      const Tensor left = dy[r].to(at::kFloat), right = x[r].to(at::kFloat);
      multiply(rows, columns, m_, 1, transposed(data<float>(left), rows), {data<float>(right), columns},
               accumulates_ ? 1.f : 0.f, data<float>(target[r]), columns);
    }
  }

  // A product with as many columns as there are classes, or, where they are many, sums over equal tokens.
  void add_embedding_gradient() {
    if (v_ <= kMostOfOneHot) {
      operators_.run(layer::OneHot<Number>{places_, data<Number>(logits_), v_}, rows_);
      return add_product(0, v_, h_, logits_, narrow_dx_);
    }
    const Tensor tokens = at::empty({rows_}, on_device(at::kInt));
    operators_.run(layer::Tokens{places_, tokens.template data_ptr<std::int32_t>()}, rows_);
    if (!accumulates_) gradient_.narrow(1, 0, v_ * h_).zero_();
    operators_.run(layer::EmbeddingGradient{tokens.template data_ptr<std::int32_t>(), data<float>(dx_),
                                            data<float>(gradient_), p_, m_, h_},
                   rows_);
  }

  // x becomes x + added (where there is something to add), and its norm is taken.
  Normed add_norm(Tensor& x, const Tensor& added, std::int64_t column) {
    const Tensor sum = added.defined() ? empty_float({rows_, h_}) : x;
    Normed out{sum, empty_float({rows_}), empty({rows_, h_})};
    operators_.run(
        layer::AddNorm<Number>{data<float>(x), added.defined() ? data<Number>(added) : nullptr,
                               master_ + column, data<float>(sum), data<Number>(out.normed),
                               data<float>(out.scale), p_, m_, h_, static_cast<float>(kNormEpsilon)},
        rows_);
    x = sum;
    return out;
  }

  // dx_ (+)= the gradient through a norm; its weights' gradient goes to the row.
  void norm_backward(const Tensor& dy, const Normed& at, std::int64_t column, bool adds) {
    std::int64_t slices = norm_slices_of(m_);
    Tensor partial = empty_float({n_ * slices, h_});
    operators_.run(
        layer::NormBackward<Number>{data<Number>(dy), data<float>(at.x), master_ + column,
                                    data<float>(at.scale), data<float>(dx_), data<Number>(narrow_dx_),
                                    data<float>(partial), p_, m_, slices, h_, adds},
        n_ * slices);
    if (slices > kNormSlices) {
      const Tensor sums = empty_float({n_ * slices / kNormGroup, h_});
      operators_.run(layer::NormWeightSum{data<float>(partial), data<float>(sums), h_, kNormGroup, h_, false},
                     n_ * slices / kNormGroup, h_);
      partial = sums;
      slices /= kNormGroup;
    }
    operators_.run(layer::NormWeightSum{data<float>(partial), data<float>(gradient_) + column, p_, slices, h_,
                                        accumulates_},
                   n_, h_);
  }

  // From one part of the model to the next, where it is before this layer: x becomes x + added as the next
  // part reads it. And the gradient's way back.
  void cross(int layer, Tensor& x, Tensor& added) {
    const HopRange hops = setting_.boundaries.hops_before(layer);
    for (int hop = hops.first; hop < hops.end; ++hop) {
      const auto& codec = setting_.boundaries.activations.at(hop);
      if (!codec) continue;
      if (added.defined()) x = at::add(x, added);
      added = Tensor();
      pass(*codec, x);
    }
  }
  void cross_back(int layer) {
    const HopRange hops = setting_.boundaries.hops_before(layer);
    bool has_changed = false;
    for (int hop = hops.end - 1; hop >= hops.first; --hop)
      if (const auto& codec = setting_.boundaries.gradients.at(hop)) {
        pass(*codec, dx_);
        has_changed = true;
      }
    if (has_changed) narrow_dx_.copy_(dx_);
  }
  // stream [N, h] float32, each replica's rows in blocks of their own.
  void pass(const Quantized& codec, const Tensor& stream) {
    const NumberCode code(codec.numbers);
    const std::int64_t numbers = m_ * h_, block = std::min<std::int64_t>(codec.block, numbers),
                       blocks = (numbers + block - 1) / block, bytes = code.bytes(block);
    const Tensor messages = at::empty({n_ * blocks * bytes}, on_device(at::kByte));
    operators_.run(layer::Requantize{code, data<float>(stream), data<std::uint8_t>(messages), numbers, block,
                                     blocks, bytes},
                   n_, blocks);
  }

  void forward(int index, Tensor& x, Tensor& added) {
    LayerState s;
    compute(index, x, added, s);
    added = times_transposed(s.active, matrix(columns_of(shape_, index).down, h_, f_));
    if (!keeps_states_) return;
    if (recomputes_) {
      LayerState kept;
      kept.x = s.x;
      if (setting_.flash) kept.flash = s.flash, kept.mixed = s.mixed;
      s = std::move(kept);
    }
    state(index) = std::move(s);
  }

  // Once more what forward() did not keep.
  void restore(int index) {
    LayerState& s = state(index);
    Tensor x = s.x, added;
    compute(index, x, added, s);
  }

  // All of a layer up to what its last product takes. What attention gave is taken where `s` has it already.
  void compute(int index, Tensor& x, Tensor& added, LayerState& s) {
    const LayerColumns at = columns_of(shape_, index);
    const Normed first = add_norm(x, added, at.attention_norm);
    s.x = first.x, s.scale1 = first.scale, s.normed1 = first.normed;
    const Tensor qkv = times_transposed(s.normed1, matrix(at.qkv, 3 * h_, h_));
    s.mixed.defined() ? turn(qkv, s) : attend(qkv, s);
    added = times_transposed(s.mixed, matrix(at.attention_output, h_, h_));
    const Normed second = add_norm(x, added, at.feed_forward_norm);
    s.middle = second.x, s.scale2 = second.scale, s.normed2 = second.normed;
    s.gate_up = times_transposed(s.normed2, matrix(at.gate_up, 2 * f_, h_));
    s.active = empty({rows_, f_});
    operators_.run(layer::Swiglu<Number>{data<Number>(s.gate_up), data<Number>(s.active), f_}, rows_);
  }

  // dx_: the gradient of the layer's output becomes that of its input.
  void backward(int index) {
    if (recomputes_) restore(index);
    LayerState& s = state(index);
    const LayerColumns at = columns_of(shape_, index);
    add_product(at.down, h_, f_, narrow_dx_, s.active);
    const Tensor d_active = times(narrow_dx_, matrix(at.down, h_, f_));
    operators_.run(layer::SwigluBackward<Number>{data<Number>(d_active), data<Number>(s.gate_up), f_}, rows_);
    add_product(at.gate_up, 2 * f_, h_, s.gate_up, s.normed2);
    norm_backward(times(s.gate_up, matrix(at.gate_up, 2 * f_, h_)), {s.middle, s.scale2, s.normed2},
                  at.feed_forward_norm, true);
    add_product(at.attention_output, h_, h_, narrow_dx_, s.mixed);
    const Tensor d_qkv = attend_backward(times(narrow_dx_, matrix(at.attention_output, h_, h_)), s);
    add_product(at.qkv, 3 * h_, h_, d_qkv, s.normed1);
    norm_backward(times(d_qkv, matrix(at.qkv, 3 * h_, h_)), {s.x, s.scale1, s.normed1}, at.attention_norm,
                  true);
  }

  layer::Heads heads(bool by_token = false) const { return {t_, shape_.heads, width_, by_token}; }
  float query_scale() const { return 1 / std::sqrt(static_cast<float>(width_)); }
  // Query, key or value: [sequences · heads, context, width].
  Tensor part(const Tensor& heads, int which) const { return heads.select(0, which).flatten(0, 1); }

  // Query, key or value of [N, parts · h], as fused attention takes them: views [sequences, heads, context,
  // width] of token order.
  Tensor fused_part(const Tensor& rows, int which) const {
    return rows.view({sequences_, t_, -1, shape_.heads, width_}).select(2, which).transpose(1, 2);
  }
  // And back, without a copy where the tensor lies in token order.
  Tensor in_rows(const Tensor& heads) const { return heads.transpose(1, 2).reshape({rows_, h_}); }

  void attend(const Tensor& qkv, LayerState& s) {
    if (setting_.flash) return attend_fused(qkv, s);
    s.heads = empty({3, sequences_, shape_.heads, t_, width_});
    operators_.run(
        layer::SplitHeads<Number>{heads(), data<Number>(qkv), data<Number>(s.heads[0]),
                                  data<Number>(s.heads[1]), data<Number>(s.heads[2]),
                                  data<float>(setting_.cosine), data<float>(setting_.sine), query_scale()},
        rows_);
    s.mixed = empty({rows_, h_});
    s.weights = at::bmm(part(s.heads, 0), turned(part(s.heads, 1)));
    operators_.run(layer::CausalSoftmax<Number>{data<Number>(s.weights), t_}, sequences_ * shape_.heads * t_);
    const Tensor mixed = at::bmm(s.weights, part(s.heads, 2));
    operators_.run(layer::MoveHeads<Number>{heads(), data<Number>(mixed), data<Number>(s.mixed), false},
                   rows_);
  }

  // In place, for fused attention.
  void turn(const Tensor& qkv, LayerState& s) {
    s.heads = qkv;
    operators_.run(layer::TurnHeads<Number>{heads(true), data<Number>(qkv), data<float>(setting_.cosine),
                                            data<float>(setting_.sine), query_scale()},
                   rows_);
  }

  void attend_fused(const Tensor& qkv, LayerState& s) {
    turn(qkv, s);
    s.flash = flash_attention(fused_part(qkv, 0), fused_part(qkv, 1), fused_part(qkv, 2));
    s.mixed = in_rows(s.flash.out);
  }

  Tensor attend_fused_backward(const Tensor& d_mixed, LayerState& s) {
    Tensor dq, dk, dv;
    std::tie(dq, dk, dv) = flash_attention_backward(s.flash, fused_part(d_mixed, 0), fused_part(s.heads, 0),
                                                    fused_part(s.heads, 1), fused_part(s.heads, 2));
    dq = in_rows(dq), dk = in_rows(dk), dv = in_rows(dv);
    const Tensor d_qkv = empty({rows_, 3 * h_});
    operators_.run(layer::JoinHeads<Number>{heads(true), data<Number>(dq), data<Number>(dk), data<Number>(dv),
                                            data<Number>(d_qkv), data<float>(setting_.cosine),
                                            data<float>(setting_.sine), query_scale()},
                   rows_);
    return d_qkv;
  }

  Tensor attend_backward(const Tensor& d_mixed_rows, LayerState& s) {
    if (setting_.flash) return attend_fused_backward(d_mixed_rows, s);
    const Tensor d_mixed = empty({sequences_, shape_.heads, t_, width_}), d_qkv = empty({rows_, 3 * h_});
    operators_.run(layer::MoveHeads<Number>{heads(), data<Number>(d_mixed_rows), data<Number>(d_mixed), true},
                   rows_);
    const Tensor d_out = d_mixed.flatten(0, 1);
    const Tensor d_scores = at::bmm(d_out, turned(part(s.heads, 2)));
    operators_.run(layer::CausalSoftmaxBackward<Number>{data<Number>(s.weights), data<Number>(d_scores), t_},
                   sequences_ * shape_.heads * t_);
    const Tensor dv = at::bmm(turned(s.weights), d_out), dq = at::bmm(d_scores, part(s.heads, 1)),
                 dk = at::bmm(turned(d_scores), part(s.heads, 0));
    operators_.run(layer::JoinHeads<Number>{heads(), data<Number>(dq), data<Number>(dk), data<Number>(dv),
                                            data<Number>(d_qkv), data<float>(setting_.cosine),
                                            data<float>(setting_.sine), query_scale()},
                   rows_);
    return d_qkv;
  }

  const Setting& setting_;
  bool recomputes_;
  const ModelShape& shape_;
  const LayerOperators<Number>& operators_;
  Tensor weights_;
  const float* master_;
  std::int64_t n_, t_, m_, rows_, sequences_, p_, h_, f_, v_, width_;
  bool keeps_states_ = false, accumulates_ = false;
  layer::Embed places_{};
  std::vector<LayerState> layers_;
  Normed last_;
  Tensor logits_, gradient_, dx_, narrow_dx_;
};

}  // namespace
}  // namespace longhaul
