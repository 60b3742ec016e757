// One forward and backward pass of a stack of replicas (stacked_decoder.h): the products are a library's, the
// rest is layer_functions.h's. Included by stacked_decoder.cc alone.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "core/base/index.h"
#include "trainer/device/cuda_device.h"
#include "trainer/device/device_products.h"
#include "trainer/device/torch.h"
#include "trainer/model/decoder.h"
#include "trainer/model/gemm.h"
#include "trainer/model/layer_operators.h"
#include "trainer/model/stacked_attention.h"
#include "trainer/model/stacked_decoder.h"

namespace longhaul {
namespace {

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

// Rows of the arena as a tensor.
template <typename Number>
Tensor table(Number* rows, std::int64_t count, std::int64_t columns, at::Device device) {
  return tensor_over(rows, {count, columns}, kType<Number>, device);
}

// A norm's input [N, h] float32, its scale [N] and what it gave [N, h]; N rows are all tokens of all replicas
// of the piece.
struct Normed {
  Tensor x, scale, normed;
};

// What the backward pass needs of a layer.
struct LayerState {
  Normed into_attention, into_feed_forward;
  AttentionState attention;
  Tensor gate_up, active;  // [N, 2 ffn], [N, ffn]
};

// Forward and backward of `replicas` replicas over `sequences` sequences of each.
template <typename Number>
class StackedPass {
 public:
  // `weights` [replicas, P] as the products take them; `master` the same rows in the arena.
  StackedPass(const Setting& setting, const LayerOperators<Number>& operators, const Tensor& weights,
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
        p_(shape_.parameters()),
        h_(shape_.hidden),
        f_(shape_.ffn),
        v_(shape_.vocabulary),
        attention_(setting, operators, n_ * sequences),
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
  Tensor empty(at::IntArrayRef sizes) const { return setting_.empty(kType<Number>, sizes); }
  Tensor empty_float(at::IntArrayRef sizes) const { return setting_.empty(at::kFloat, sizes); }
  LayerState& state(int index) { return layers_[as_index(index)]; }

  LayerParts<std::int64_t> columns_of(int layer) const { return layer_parts(std::int64_t{0}, shape_, layer); }
  std::int64_t output_norm_column() const { return columns_of(shape_.layers).attention_norm; }
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
    const Tensor tokens = setting_.empty(at::kInt, {rows_});
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
    const Tensor messages = setting_.empty(at::kByte, {n_ * blocks * bytes});
    operators_.run(layer::Requantize{code, data<float>(stream), data<std::uint8_t>(messages), numbers, block,
                                     blocks, bytes},
                   n_, blocks);
  }

  void forward(int index, Tensor& x, Tensor& added) {
    LayerState s;
    compute(index, x, added, s);
    added = times_transposed(s.active, matrix(columns_of(index).down, h_, f_));
    if (!keeps_states_) return;
    if (recomputes_) {
      LayerState kept;
      kept.into_attention.x = s.into_attention.x;
      if (setting_.flash) kept.attention.flash = s.attention.flash, kept.attention.mixed = s.attention.mixed;
      s = std::move(kept);
    }
    state(index) = std::move(s);
  }

  // Once more what forward() did not keep.
  void restore(int index) {
    LayerState& s = state(index);
    Tensor x = s.into_attention.x, added;
    compute(index, x, added, s);
  }

  // All of a layer up to what its last product takes. What attention gave is taken where `s` has it already.
  void compute(int index, Tensor& x, Tensor& added, LayerState& s) {
    const LayerParts<std::int64_t> at = columns_of(index);
    s.into_attention = add_norm(x, added, at.attention_norm);
    attention_.forward(times_transposed(s.into_attention.normed, matrix(at.qkv, 3 * h_, h_)), s.attention);
    added = times_transposed(s.attention.mixed, matrix(at.attention_output, h_, h_));
    s.into_feed_forward = add_norm(x, added, at.feed_forward_norm);
    s.gate_up = times_transposed(s.into_feed_forward.normed, matrix(at.gate_up, 2 * f_, h_));
    s.active = empty({rows_, f_});
    operators_.run(layer::Swiglu<Number>{data<Number>(s.gate_up), data<Number>(s.active), f_}, rows_);
  }

  // dx_: the gradient of the layer's output becomes that of its input.
  void backward(int index) {
    if (recomputes_) restore(index);
    LayerState& s = state(index);
    const LayerParts<std::int64_t> at = columns_of(index);
    add_product(at.down, h_, f_, narrow_dx_, s.active);
    const Tensor d_active = times(narrow_dx_, matrix(at.down, h_, f_));
    operators_.run(layer::SwigluBackward<Number>{data<Number>(d_active), data<Number>(s.gate_up), f_}, rows_);
    add_product(at.gate_up, 2 * f_, h_, s.gate_up, s.into_feed_forward.normed);
    norm_backward(times(s.gate_up, matrix(at.gate_up, 2 * f_, h_)), s.into_feed_forward, at.feed_forward_norm,
                  true);
    add_product(at.attention_output, h_, h_, narrow_dx_, s.attention.mixed);
    const Tensor d_qkv =
        attention_.backward(times(narrow_dx_, matrix(at.attention_output, h_, h_)), s.attention);
    add_product(at.qkv, 3 * h_, h_, d_qkv, s.into_attention.normed);
    norm_backward(times(d_qkv, matrix(at.qkv, 3 * h_, h_)), s.into_attention, at.attention_norm, true);
  }

  const Setting& setting_;
  bool recomputes_;
  const ModelShape& shape_;
  const LayerOperators<Number>& operators_;
  Tensor weights_;
  const float* master_;
  std::int64_t n_, t_, m_, rows_, p_, h_, f_, v_;
  StackedAttention<Number> attention_;
  bool keeps_states_ = false, accumulates_ = false;
  layer::Embed places_{};
  std::vector<LayerState> layers_;
  Normed last_;
  Tensor logits_, gradient_, dx_, narrow_dx_;
};

}  // namespace
}  // namespace longhaul
