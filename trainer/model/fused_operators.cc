#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "trainer/model/kernels.h"
#include "trainer/model/operators.h"

namespace longhaul {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

const float* in(const Tensor& tensor) {
  return tensor.data_ptr<float>();
}
float* out(const Tensor& tensor) {
  return tensor.data_ptr<float>();
}

struct RmsNorm : Function<RmsNorm> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight) {
    const Tensor y = at::empty_like(x), scale = at::empty({x.size(0)});
    rms_norm_forward(in(x), in(weight), x.size(0), x.size(1), static_cast<float>(kNormEpsilon), out(y),
                     out(scale));
    context->save_for_backward({x, weight, scale});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], dy = gradients[0].contiguous();
    const Tensor dx = at::empty_like(x), dw = at::empty_like(weight);
    rms_norm_backward(in(dy), in(x), in(weight), in(saved[2]), x.size(0), x.size(1), out(dx), out(dw));
    return {dx, dw};
  }
};

struct Swiglu : Function<Swiglu> {
  static Tensor forward(AutogradContext* context, const Tensor& gate_up) {
    const Tensor y = at::empty({gate_up.size(0), gate_up.size(1) / 2});
    swiglu_forward(in(gate_up), y.size(0), y.size(1), out(y));
    context->save_for_backward({gate_up});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const Tensor gate_up = context->get_saved_variables()[0], dy = gradients[0].contiguous();
    const Tensor d_gate_up = at::empty_like(gate_up);
    swiglu_backward(in(dy), in(gate_up), dy.size(0), dy.size(1), out(d_gate_up));
    return {d_gate_up};
  }
};

// [B · T, H · d] ↔ [B · H, T, d]
Tensor to_heads(const Tensor& rows, const AttentionShape& s) {
  return rows.view({s.sequences, s.context, s.heads, s.width})
      .transpose(1, 2)
      .reshape({-1, s.context, s.width});
}
Tensor from_heads(const Tensor& heads, const AttentionShape& s) {
  return heads.view({s.sequences, s.heads, s.context, s.width})
      .transpose(1, 2)
      .reshape({s.sequences * s.context, -1});
}

struct Attention : Function<Attention> {
  static Tensor forward(AutogradContext* context, const Tensor& qkv, const Tensor& cosine, const Tensor& sine,
                        std::int64_t sequences, std::int64_t heads) {
    const AttentionShape shape = shape_of(qkv, sequences, heads);
    const Tensor q = at::empty({sequences * heads, shape.context, shape.width}), k = at::empty_like(q),
                 v = at::empty_like(q);
    split_heads(shape, in(qkv), in(cosine), in(sine), out(q), out(k), out(v));
    const Tensor weights = at::bmm(q, k.transpose(1, 2));
    causal_softmax(weights.size(0), shape.context, out(weights));
    context->save_for_backward({q, k, v, weights, cosine, sine});
    context->saved_data["sequences"] = sequences;
    return from_heads(at::bmm(weights, v), shape);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor &q = saved[0], &k = saved[1], &v = saved[2], &weights = saved[3];
    const std::int64_t sequences = context->saved_data["sequences"].toInt();
    const AttentionShape shape{sequences, q.size(1), q.size(0) / sequences, q.size(2)};
    const Tensor d_mixed = to_heads(gradients[0], shape);
    const Tensor dv = at::bmm(weights.transpose(1, 2), d_mixed);
    const Tensor d_scores = at::bmm(d_mixed, v.transpose(1, 2));
    causal_softmax_backward(d_scores.size(0), shape.context, in(weights), out(d_scores));
    const Tensor dq = at::bmm(d_scores, k), dk = at::bmm(d_scores.transpose(1, 2), q);
    const Tensor d_qkv = at::empty({sequences * shape.context, 3 * shape.heads * shape.width});
    join_head_gradients(shape, in(dq), in(dk), in(dv), in(saved[4]), in(saved[5]), out(d_qkv));
    return {d_qkv, {}, {}, {}, {}};
  }

 private:
  static AttentionShape shape_of(const Tensor& qkv, std::int64_t sequences, std::int64_t heads) {
    return {sequences, qkv.size(0) / sequences, heads, qkv.size(1) / (3 * heads)};
  }
};

class FusedOperators : public OperatorSet {
 public:
  explicit FusedOperators(const ModelShape& shape) : heads_(shape.heads) {
    const std::int64_t half = shape.hidden / shape.heads / 2;
    const Tensor frequency = at::pow(kRotaryBase, -at::arange(half, at::kDouble) / static_cast<double>(half));
    const Tensor angle = at::outer(at::arange(shape.context, at::kDouble), frequency);  // [T, d/2]
    cosine_ = angle.cos().to(at::kFloat);
    sine_ = angle.sin().to(at::kFloat);
  }

  Tensor rms_norm(const Tensor& x, const Tensor& weight) const override { return RmsNorm::apply(x, weight); }
  Tensor attention(const Tensor& qkv, std::int64_t sequences) const override {
    return Attention::apply(qkv, cosine_, sine_, sequences, heads_);
  }
  Tensor swiglu(const Tensor& gate_up) const override { return Swiglu::apply(gate_up); }

 private:
  std::int64_t heads_;
  Tensor cosine_, sine_;
};

}  // namespace

std::unique_ptr<OperatorSet> make_fused_operators(const ModelShape& shape) {
  return std::make_unique<FusedOperators>(shape);
}

}  // namespace longhaul
