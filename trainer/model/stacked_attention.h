// Causal attention of a stack of replicas (stacked_pass.h): with all weights, or fused (flash_attention.h),
// which has its heads in token order and keeps no weights. Included by stacked_decoder.cc alone.
#pragma once

#include <cmath>
#include <memory>
#include <tuple>

#include "trainer/device/device_products.h"
#include "trainer/device/flash_attention.h"
#include "trainer/device/torch.h"
#include "trainer/model/boundaries.h"
#include "trainer/model/decoder.h"
#include "trainer/model/layer_operators.h"

namespace longhaul {
namespace {

using at::Tensor;

template <typename Number>
constexpr at::ScalarType kType = std::is_same_v<Number, float> ? at::kFloat : at::kBFloat16;

template <typename Number>
Number* data(const Tensor& tensor) {
  return static_cast<Number*>(tensor.data_ptr());
}

Tensor turned(const Tensor& matrices) {
  return matrices.transpose(1, 2);
}

// What a pass needs to know and does not change.
struct Setting {
  ModelShape shape;
  at::Device device = at::kCPU;
  bool flash = false;
  std::shared_ptr<DeviceProducts> products = nullptr;  // of bf16 on a GPU
  Tensor cosine, sine;                                 // [context, width of a head / 2]
  Boundaries boundaries = {};

  Tensor empty(at::ScalarType type, at::IntArrayRef sizes) const {
    return at::empty(sizes, at::TensorOptions().dtype(type).device(device));
  }
};

// What the backward pass needs; N rows are all tokens of all replicas of the piece.
struct AttentionState {
  // q, k, v, turned by the rotary angles: [3, sequences, heads, context, width], or [N, 3 h] where it is
  // fused.
  Tensor heads;
  Tensor weights;  // [sequences · heads, context, context], or
  FlashAttention flash;
  Tensor mixed;  // [N, h], the result
};

template <typename Number>
class StackedAttention {
 public:
  // `sequences`: of all replicas together. What is referred to must outlive it.
  StackedAttention(const Setting& setting, const LayerOperators<Number>& operators, std::int64_t sequences)
      : setting_(setting),
        operators_(operators),
        sequences_(sequences),
        t_(setting.shape.context),
        count_(setting.shape.heads),
        h_(setting.shape.hidden),
        width_(h_ / count_),
        rows_(sequences * t_) {}

  // qkv [N, 3 h]. What fused attention gave is taken where `s` has it already.
  void forward(const Tensor& qkv, AttentionState& s) const {
    if (!setting_.flash) return forward_whole(qkv, s);
    s.heads = qkv;
    operators_.run(layer::TurnHeads<Number>{heads(), data<Number>(qkv), data<float>(setting_.cosine),
                                            data<float>(setting_.sine), query_scale()},
                   rows_);
    if (s.mixed.defined()) return;
    s.flash = flash_attention(part(qkv, 0), part(qkv, 1), part(qkv, 2));
    s.mixed = in_rows(s.flash.out);
  }

  // The gradient of qkv [N, 3 h] of that of the result [N, h].
  Tensor backward(const Tensor& d_mixed, const AttentionState& s) const {
    const auto [dq, dk, dv] = setting_.flash ? fused_gradients(d_mixed, s) : gradients(d_mixed, s);
    const Tensor d_qkv = empty({rows_, 3 * h_});
    operators_.run(layer::JoinHeads<Number>{heads(), data<Number>(dq), data<Number>(dk), data<Number>(dv),
                                            data<Number>(d_qkv), data<float>(setting_.cosine),
                                            data<float>(setting_.sine), query_scale()},
                   rows_);
    return d_qkv;
  }

 private:
  using Gradients = std::tuple<Tensor, Tensor, Tensor>;  // of query, key and value

  Tensor empty(at::IntArrayRef sizes) const { return setting_.empty(kType<Number>, sizes); }
  layer::Heads heads() const { return {t_, setting_.shape.heads, width_, setting_.flash}; }
  float query_scale() const { return 1 / std::sqrt(static_cast<float>(width_)); }

  // Query, key or value: [sequences · heads, context, width], or of rows [N, parts · h] as fused attention
  // takes them: views [sequences, heads, context, width] of token order.
  Tensor part(const Tensor& from, int which) const {
    if (!setting_.flash) return from.select(0, which).flatten(0, 1);
    return from.view({sequences_, t_, -1, count_, width_}).select(2, which).transpose(1, 2);
  }
  // And back, without a copy where the tensor lies in token order.
  Tensor in_rows(const Tensor& heads) const { return heads.transpose(1, 2).reshape({rows_, h_}); }

  void forward_whole(const Tensor& qkv, AttentionState& s) const {
    s.heads = empty({3, sequences_, count_, t_, width_});
    operators_.run(
        layer::SplitHeads<Number>{heads(), data<Number>(qkv), data<Number>(s.heads[0]),
                                  data<Number>(s.heads[1]), data<Number>(s.heads[2]),
                                  data<float>(setting_.cosine), data<float>(setting_.sine), query_scale()},
        rows_);
    s.mixed = empty({rows_, h_});
    s.weights = at::bmm(part(s.heads, 0), turned(part(s.heads, 1)));
    operators_.run(layer::CausalSoftmax<Number>{data<Number>(s.weights), t_}, sequences_ * count_ * t_);
    const Tensor mixed = at::bmm(s.weights, part(s.heads, 2));
    operators_.run(layer::MoveHeads<Number>{heads(), data<Number>(mixed), data<Number>(s.mixed), false},
                   rows_);
  }

  Gradients fused_gradients(const Tensor& d_mixed, const AttentionState& s) const {
    const auto [dq, dk, dv] = flash_attention_backward(s.flash, part(d_mixed, 0), part(s.heads, 0),
                                                       part(s.heads, 1), part(s.heads, 2));
    return {in_rows(dq), in_rows(dk), in_rows(dv)};
  }

  Gradients gradients(const Tensor& d_mixed_rows, const AttentionState& s) const {
    const Tensor d_mixed = empty({sequences_, count_, t_, width_});
    operators_.run(layer::MoveHeads<Number>{heads(), data<Number>(d_mixed_rows), data<Number>(d_mixed), true},
                   rows_);
    const Tensor d_out = d_mixed.flatten(0, 1);
    const Tensor d_scores = at::bmm(d_out, turned(part(s.heads, 2)));
    operators_.run(layer::CausalSoftmaxBackward<Number>{data<Number>(s.weights), data<Number>(d_scores), t_},
                   sequences_ * count_ * t_);
    const Tensor dv = at::bmm(turned(s.weights), d_out);
    return {at::bmm(d_scores, part(s.heads, 1)), at::bmm(turned(d_scores), part(s.heads, 0)), dv};
  }

  const Setting& setting_;
  const LayerOperators<Number>& operators_;
  std::int64_t sequences_, t_, count_, h_, width_, rows_;
};

}  // namespace
}  // namespace longhaul
