// The decoder's element-wise parts, forward and backward, each in as few passes over memory as it needs.
// Plain loops over float32 that vectorize; the matrix products between them are the BLAS's. Matrices are
// row-major; `d` before a name is the gradient with respect to it.
#pragma once

#include <cstdint>

namespace longhaul {

// y = x · w / rms(x) in each row of x [rows, width], rms² = mean(x²) + epsilon (Zhang and Sennrich, arXiv
// 1910.07467). `scale` [rows] keeps 1/rms for the backward pass.
void rms_norm_forward(const float* x, const float* w, std::int64_t rows, std::int64_t width, float epsilon,
                      float* y, float* scale);
// Overwrites dx and dw.
void rms_norm_backward(const float* dy, const float* x, const float* w, const float* scale, std::int64_t rows,
                       std::int64_t width, float* dx, float* dw);

// y = silu(gate) · up (Shazeer, arXiv 2002.05202); each row of gate_up [rows, 2·width] holds gate, then up.
void swiglu_forward(const float* gate_up, std::int64_t rows, std::int64_t width, float* y);
void swiglu_backward(const float* dy, const float* gate_up, std::int64_t rows, std::int64_t width,
                     float* d_gate_up);

struct AttentionShape {
  std::int64_t sequences, context, heads, width;  // width of a head, even
};

// Cuts qkv [sequences, context, 3, heads, width] into q, k, v, each [sequences, heads, context, width]; q and
// k are turned by the rotary angles (Su et al., arXiv 2104.09864), q is scaled by 1/sqrt(width) besides.
// cosine, sine [context, width/2].
void split_heads(const AttentionShape& shape, const float* qkv, const float* cosine, const float* sine,
                 float* q, float* k, float* v);
// The way back of the gradients: turned backwards, scaled, joined.
void join_head_gradients(const AttentionShape& shape, const float* dq, const float* dk, const float* dv,
                         const float* cosine, const float* sine, float* d_qkv);

// In place, matrices [count, context, context] of scores: row t becomes the softmax of its first t + 1
// entries, then zeros.
void causal_softmax(std::int64_t count, std::int64_t context, float* scores);
// In place: d_weights becomes the gradient of the scores.
void causal_softmax_backward(std::int64_t count, std::int64_t context, const float* weights,
                             float* d_weights);

}  // namespace longhaul
