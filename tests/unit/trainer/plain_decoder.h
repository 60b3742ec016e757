// The decoder on LibTorch's operators and autograd, in float32 and on every device: the reference of those that
// are written out (trainer/model/decoder.h) at the sizes of a training.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "trainer/device/torch.h"
#include "trainer/model/decoder.h"

namespace longhaul::testing_plain {

using at::Tensor;

struct LayerViews {
  Tensor attention_norm, qkv, attention_output, feed_forward_norm, gate_up, down;
};

// The parameters of one row as tensors.
struct Views {
  Tensor embedding, norm, output;
  std::vector<LayerViews> layers;
};

// Cuts a row into views, in the order of the layout.
class Cutter {
 public:
  Cutter(Tensor row, const ModelShape& shape) : row_(std::move(row)), shape_(shape) {}

  Views cut() {
    const std::int64_t h = shape_.hidden, f = shape_.ffn;
    Views views;
    views.embedding = next(shape_.vocabulary, h);
    for (int i = 0; i < shape_.layers; ++i) {
      LayerViews layer;
      layer.attention_norm = next(h);
      layer.qkv = next(3 * h, h);
      layer.attention_output = next(h, h);
      layer.feed_forward_norm = next(h);
      layer.gate_up = next(2 * f, h);
      layer.down = next(h, f);
      views.layers.push_back(layer);
    }
    views.norm = next(h);
    views.output = next(shape_.vocabulary, h);
    return views;
  }

 private:
  Tensor next(std::int64_t rows, std::int64_t columns) { return next(rows * columns).view({rows, columns}); }
  Tensor next(std::int64_t size) {
    at_ += size;
    return row_.narrow(0, at_ - size, size);
  }

  Tensor row_;
  ModelShape shape_;
  std::int64_t at_ = 0;
};

template <typename Function>
void for_each_view(Views& views, Function function) {
  function(views.embedding);
  for (LayerViews& layer : views.layers)
    for (Tensor* view : {&layer.attention_norm, &layer.qkv, &layer.attention_output, &layer.feed_forward_norm,
                         &layer.gate_up, &layer.down})
      function(*view);
  function(views.norm);
  function(views.output);
}

// LibTorch accumulates a leaf's gradient in place where one is set: into the row of the arena.
inline void set_gradients(Views& weights, Views& gradient) {
  std::vector<Tensor> targets;
  for_each_view(gradient, [&](Tensor& view) { targets.push_back(view); });
  std::size_t i = 0;
  for_each_view(weights, [&](Tensor& view) {
    view = view.detach().requires_grad_();
    view.mutable_grad() = targets[i++];
  });
}

// The decoder's operators as a few of LibTorch's own each.
class PlainOperators {
 public:
  PlainOperators(const ModelShape& shape, at::Device device) : shape_(shape) {
    const std::int64_t half = shape.hidden / shape.heads / 2, context = shape.context;
    const Tensor frequency = at::pow(kRotaryBase, -at::arange(half, at::kDouble) / static_cast<double>(half));
    const Tensor angle = at::outer(at::arange(context, at::kDouble), frequency);  // [T, d/2]
    cosine_ =
        at::cat({angle.cos(), angle.cos()}, 1).view({1, context, 1, 1, 2 * half}).to(device, at::kFloat);
    sine_ = at::cat({-angle.sin(), angle.sin()}, 1).view({1, context, 1, 1, 2 * half}).to(device, at::kFloat);
    future_ = at::ones({context, context}, at::kBool).triu(1).to(device);
  }

  // x [rows, h], weight [h] → [rows, h]
  Tensor rms_norm(const Tensor& x, const Tensor& weight) const {
    return x * (x.square().mean(-1, true) + kNormEpsilon).rsqrt() * weight;
  }

  // qkv [sequences · context, 3 · h] → [sequences · context, h]: causal attention with rotary positions
  Tensor attention(const Tensor& packed, std::int64_t sequences) const {
    const std::int64_t context = shape_.context, heads = shape_.heads, width = shape_.hidden / heads;
    const Tensor qkv = packed.view({sequences, context, 3, heads, width});
    const Tensor qk = rotate(qkv.narrow(2, 0, 2)).permute({2, 0, 3, 1, 4});  // [2, B, H, T, d]
    const Tensor v = qkv.select(2, 2).transpose(1, 2);                       // [B, H, T, d]
    const Tensor scores = at::matmul(qk.select(0, 0) * (1 / std::sqrt(static_cast<double>(width))),
                                     qk.select(0, 1).transpose(-1, -2));
    const Tensor weights = at::softmax(scores.masked_fill(future_, -INFINITY), -1);
    return at::matmul(weights, v).transpose(1, 2).reshape({sequences * context, shape_.hidden});
  }

  // gate_up [rows, 2 · ffn] → [rows, ffn]
  Tensor swiglu(const Tensor& gate_up) const {
    const std::vector<Tensor> parts = gate_up.chunk(2, -1);
    return at::silu(parts[0]) * parts[1];
  }

 private:
  // x [B, T, 2, H, d]: each pair (x_i, x_{i + d/2}) turned by its position's angle.
  Tensor rotate(const Tensor& x) const {
    const std::int64_t half = x.size(-1) / 2;
    const Tensor swapped = at::cat({x.narrow(-1, half, half), x.narrow(-1, 0, half)}, -1);
    return x * cosine_ + swapped * sine_;
  }

  ModelShape shape_;
  Tensor cosine_, sine_, future_;
};

class PlainDecoder {
 public:
  PlainDecoder(const ModelShape& shape, Device device)
      : shape_(shape), device_(torch_device(device)), operators_(shape, device_) {}

  double loss(const float* weights, const Batch& batch) const {
    const c10::NoGradGuard no_gradient;
    return forward(Cutter(row(const_cast<float*>(weights)), shape_).cut(), batch).item<double>();
  }

  double loss_and_gradient(const float* weights, float* gradient, const Batch& batch) const {
    Views views = Cutter(row(const_cast<float*>(weights)), shape_).cut();
    std::fill(gradient, gradient + shape_.parameters(), 0.f);
    const Tensor gradient_row = row(gradient);
    Views gradients = Cutter(gradient_row, shape_).cut();
    set_gradients(views, gradients);
    const Tensor loss = forward(views, batch);
    loss.backward();
    if (device_ != at::kCPU) at::from_blob(gradient, {shape_.parameters()}).copy_(gradient_row);
    return loss.item<double>();
  }

 private:
  // On the CPU the row itself, elsewhere a copy.
  Tensor row(float* values) const { return at::from_blob(values, {shape_.parameters()}).to(device_); }

  Tensor forward(const Views& weights, const Batch& batch) const {
    const std::int64_t sequences = batch.sequences, context = shape_.context;
    const Tensor tokens =
        at::from_blob(const_cast<std::int64_t*>(batch.tokens.data()), {sequences, context + 1}, at::kLong)
            .to(device_);
    Tensor x = at::embedding(weights.embedding, tokens.narrow(1, 0, context)).view({sequences * context, -1});
    for (const LayerViews& layer : weights.layers) {
      const Tensor qkv = at::linear(operators_.rms_norm(x, layer.attention_norm), layer.qkv);
      x = add_linear(x, operators_.attention(qkv, sequences), layer.attention_output);
      const Tensor gate_up = at::linear(operators_.rms_norm(x, layer.feed_forward_norm), layer.gate_up);
      x = add_linear(x, operators_.swiglu(gate_up), layer.down);
    }
    const Tensor logits = at::linear(operators_.rms_norm(x, weights.norm), weights.output);
    return at::cross_entropy_loss(logits, tokens.narrow(1, 1, context).reshape({-1}));
  }

  // x + y Wᵀ, the sum within the product.
  static Tensor add_linear(const Tensor& x, const Tensor& y, const Tensor& weight) {
    return at::addmm(x, y, weight.t());
  }

  ModelShape shape_;
  at::Device device_;
  PlainOperators operators_;
};

}  // namespace longhaul::testing_plain
