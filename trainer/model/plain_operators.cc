#include <ATen/ATen.h>

#include <cmath>

#include "trainer/model/operators.h"

namespace longhaul {
namespace {

using at::Tensor;

class PlainOperators : public OperatorSet {
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

  Tensor rms_norm(const Tensor& x, const Tensor& weight) const override {
    return x * (x.square().mean(-1, true) + kNormEpsilon).rsqrt() * weight;
  }

  Tensor attention(const Tensor& packed, std::int64_t sequences) const override {
    const std::int64_t context = shape_.context, heads = shape_.heads, width = shape_.hidden / heads;
    const Tensor qkv = packed.view({sequences, context, 3, heads, width});
    const Tensor qk = rotate(qkv.narrow(2, 0, 2)).permute({2, 0, 3, 1, 4});  // [2, B, H, T, d]
    const Tensor v = qkv.select(2, 2).transpose(1, 2);                       // [B, H, T, d]
    const Tensor scores = at::matmul(qk.select(0, 0) * (1 / std::sqrt(static_cast<double>(width))),
                                     qk.select(0, 1).transpose(-1, -2));
    const Tensor weights = at::softmax(scores.masked_fill(future_, -INFINITY), -1);
    return at::matmul(weights, v).transpose(1, 2).reshape({sequences * context, shape_.hidden});
  }

  Tensor swiglu(const Tensor& gate_up) const override {
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

}  // namespace

std::unique_ptr<OperatorSet> make_plain_operators(const ModelShape& shape, at::Device device) {
  return std::make_unique<PlainOperators>(shape, device);
}

}  // namespace longhaul
