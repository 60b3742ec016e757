// The decoder's element-wise parts, forward and backward, each in as few passes over memory as it needs.
// Plain loops over float32 that vectorize; the matrix products between them are the BLAS's. Matrices are
// row-major; `d` before a name is the gradient with respect to it.
#pragma once

#include <cstdint>

#include "trainer/model/scalar.h"

namespace longhaul {
LONGHAUL_PRECISION_BEGIN

// y = x · w / rms(x) in each row of x [rows, width], rms² = mean(x²) + epsilon (Zhang and Sennrich, arXiv
// 1910.07467). `scale` [rows] keeps 1/rms for the backward pass.
void rms_norm_forward(const Scalar* x, const Scalar* w, std::int64_t rows, std::int64_t width, Scalar epsilon,
                      Scalar* y, Scalar* scale);
// y once more, from the `scale` of the forward pass.
void rms_norm_again(const Scalar* x, const Scalar* w, const Scalar* scale, std::int64_t rows,
                    std::int64_t width, Scalar* y);
// Adds to dx, overwrites dw.
void rms_norm_backward(const Scalar* dy, const Scalar* x, const Scalar* w, const Scalar* scale,
                       std::int64_t rows, std::int64_t width, Scalar* dx, Scalar* dw);

// A row of gate_up holds `width` gates, then as many ups; rows begin `gate_up_stride` apart there, at least
// 2·width, and `y_stride` apart in y, at least width.
struct FeedForwardShape {
  std::int64_t rows, width, gate_up_stride, y_stride;
};
// y = silu(gate) · up (Shazeer, arXiv 2002.05202).
void swiglu_forward(const FeedForwardShape& shape, const Scalar* gate_up, Scalar* y);
// In place: gate_up becomes its own gradient, and dy becomes y once more.
void swiglu_backward(const FeedForwardShape& shape, Scalar* dy, Scalar* gate_up);

struct AttentionShape {
  std::int64_t sequences, context, heads, width;  // width of a head, even
};

// In place: queries and keys in qkv [sequences, context, 3, heads, width] are turned by the rotary angles (Su
// et al., arXiv 2104.09864), halves of a head as pairs; cosine, sine [context, width/2].
void rotate(const AttentionShape& shape, const Scalar* cosine, const Scalar* sine, Scalar* qkv);
// The way back of their gradients: turned backwards.
void rotate_back(const AttentionShape& shape, const Scalar* cosine, const Scalar* sine, Scalar* d_qkv);

// In place, matrices [count, context, context] of scores: row t becomes the softmax of its first t + 1
// entries, then zeros.
void causal_softmax(std::int64_t count, std::int64_t context, Scalar* scores);
// In place: d_weights becomes the gradient of the scores.
void causal_softmax_backward(std::int64_t count, std::int64_t context, const Scalar* weights,
                             Scalar* d_weights);

// The sum over rows of −log softmax(logits)[target], in place: logits [rows, classes] become its gradient
// times `scale`.
double cross_entropy(std::int64_t rows, std::int64_t classes, const std::int64_t* targets, Scalar scale,
                     Scalar* logits);

LONGHAUL_PRECISION_END
}  // namespace longhaul
