#include "trainer/model/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "trainer/replicas/vectorized.h"

// Compiled with -fopenmp-simd: the sums marked below may be split over the lanes of a vector.

namespace longhaul {
LONGHAUL_PRECISION_BEGIN
namespace {

// e^x for |x| < 87 to about 2 units in the last place, in operations that vectorize: x = n log 2 + r, a
// polynomial in r (the minimax coefficients of Cephes' expf), and n added to the exponent.
inline float exponential(float argument) {
  // A NaN becomes -87 here, since it has no integer part, and comes back at the end.
  const float x = argument > -87.f ? (argument < 87.f ? argument : 87.f) : -87.f;
  constexpr float kToInteger = 12582912.f;  // 1.5 · 2^23: adding it rounds to an integer
  const float n = (x * 1.44269504f + kToInteger) - kToInteger;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float y = 1.9875691500e-4f;
  y = y * r + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = y * r * r + r + 1;
  const std::int32_t bits = (static_cast<std::int32_t>(n) + 127) << 23;
  float power;
  std::memcpy(&power, &bits, sizeof power);
  return y * power + (argument - argument);  // adds 0, or NaN where the argument is not finite
}

#ifdef LONGHAUL_FLOAT64
inline double exponential(double argument) {
  return std::exp(argument);
}
#endif

// (a, b) turned by an angle, for half a head.
inline void turn(const Scalar* cosine, const Scalar* sine, Scalar sign, std::int64_t half, Scalar* x) {
#pragma omp simd
  for (std::int64_t i = 0; i < half; ++i) {
    const Scalar a = x[i], b = x[i + half];
    x[i] = a * cosine[i] - sign * b * sine[i];
    x[i + half] = b * cosine[i] + sign * a * sine[i];
  }
}

inline void turn_all(const AttentionShape& shape, const Scalar* cosine, const Scalar* sine, Scalar sign,
                     Scalar* qkv) {
  const std::int64_t d = shape.width, half = d / 2, hidden = shape.heads * d;
  for (std::int64_t row = 0; row < shape.sequences * shape.context; ++row) {
    const std::int64_t t = row % shape.context;
    for (std::int64_t head = 0; head < 2 * shape.heads; ++head)  // queries, then keys
      turn(cosine + t * half, sine + t * half, sign, half, qkv + row * 3 * hidden + head * d);
  }
}

}  // namespace

LONGHAUL_VECTORIZED void rms_norm_forward(const Scalar* x, const Scalar* w, std::int64_t rows,
                                          std::int64_t width, Scalar epsilon, Scalar* y, Scalar* scale) {
  for (std::int64_t row = 0; row < rows; ++row, x += width, y += width) {
    Scalar squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t i = 0; i < width; ++i) squares += x[i] * x[i];
    const Scalar s = scale[row] = 1 / std::sqrt(squares / static_cast<Scalar>(width) + epsilon);
    for (std::int64_t i = 0; i < width; ++i) y[i] = x[i] * s * w[i];
  }
}

LONGHAUL_VECTORIZED void rms_norm_again(const Scalar* x, const Scalar* w, const Scalar* scale,
                                        std::int64_t rows, std::int64_t width, Scalar* y) {
  for (std::int64_t row = 0; row < rows; ++row, x += width, y += width) {
    const Scalar s = scale[row];
    for (std::int64_t i = 0; i < width; ++i) y[i] = x[i] * s * w[i];
  }
}

// With s = 1/rms and g = dy · w: dx = s g − x s³ mean(g x), dw = Σ_rows dy x s.
LONGHAUL_VECTORIZED void rms_norm_backward(const Scalar* dy, const Scalar* x, const Scalar* w,
                                           const Scalar* scale, std::int64_t rows, std::int64_t width,
                                           Scalar* dx, Scalar* dw) {
  std::fill(dw, dw + width, Scalar{0});
  for (std::int64_t row = 0; row < rows; ++row, dy += width, x += width, dx += width) {
    const Scalar s = scale[row];
    Scalar product = 0;
#pragma omp simd reduction(+ : product)
    for (std::int64_t i = 0; i < width; ++i) product += dy[i] * w[i] * x[i];
    const Scalar pull = product * s * s * s / static_cast<Scalar>(width);
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) {
      dx[i] += s * dy[i] * w[i] - pull * x[i];
      dw[i] += dy[i] * x[i] * s;
    }
  }
}

LONGHAUL_VECTORIZED void swiglu_forward(const FeedForwardShape& shape, const Scalar* gate_up, Scalar* y) {
  for (std::int64_t row = 0; row < shape.rows; ++row, y += shape.y_stride) {
    const Scalar *gate = gate_up + row * shape.gate_up_stride, *up = gate + shape.width;
#pragma omp simd
    for (std::int64_t i = 0; i < shape.width; ++i) y[i] = gate[i] * (1 / (1 + exponential(-gate[i]))) * up[i];
  }
}

// With σ = sigmoid(gate): d gate = dy · up · σ (1 + gate (1 − σ)), d up = dy · gate · σ.
LONGHAUL_VECTORIZED void swiglu_backward(const FeedForwardShape& shape, Scalar* dy, Scalar* gate_up) {
  for (std::int64_t row = 0; row < shape.rows; ++row, dy += shape.y_stride) {
    Scalar *gates = gate_up + row * shape.gate_up_stride, *ups = gates + shape.width;
#pragma omp simd
    for (std::int64_t i = 0; i < shape.width; ++i) {
      const Scalar gate = gates[i], up = ups[i], d = dy[i], sigmoid = 1 / (1 + exponential(-gate)),
                   silu = gate * sigmoid;
      gates[i] = d * up * sigmoid * (1 + gate * (1 - sigmoid));
      ups[i] = d * silu;
      dy[i] = silu * up;
    }
  }
}

LONGHAUL_VECTORIZED void rotate(const AttentionShape& shape, const Scalar* cosine, const Scalar* sine,
                                Scalar* qkv) {
  turn_all(shape, cosine, sine, 1, qkv);
}

LONGHAUL_VECTORIZED void rotate_back(const AttentionShape& shape, const Scalar* cosine, const Scalar* sine,
                                     Scalar* d_qkv) {
  turn_all(shape, cosine, sine, -1, d_qkv);
}

LONGHAUL_VECTORIZED void causal_softmax(std::int64_t count, std::int64_t context, Scalar* scores) {
  for (std::int64_t row = 0; row < count * context; ++row, scores += context) {
    const std::int64_t length = row % context + 1;
    Scalar largest = scores[0], sum = 0;
#pragma omp simd reduction(max : largest)
    for (std::int64_t i = 0; i < length; ++i) largest = largest < scores[i] ? scores[i] : largest;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < length; ++i) {
      scores[i] = exponential(scores[i] - largest);
      sum += scores[i];
    }
    const Scalar scale = 1 / sum;
    for (std::int64_t i = 0; i < length; ++i) scores[i] *= scale;
    std::fill(scores + length, scores + context, Scalar{0});
  }
}

// ds = p (dp − Σ p dp)
LONGHAUL_VECTORIZED void causal_softmax_backward(std::int64_t count, std::int64_t context,
                                                 const Scalar* weights, Scalar* d_weights) {
  for (std::int64_t row = 0; row < count * context; ++row, weights += context, d_weights += context) {
    const std::int64_t length = row % context + 1;
    Scalar sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < length; ++i) sum += weights[i] * d_weights[i];
    for (std::int64_t i = 0; i < length; ++i) d_weights[i] = weights[i] * (d_weights[i] - sum);
    std::fill(d_weights + length, d_weights + context, Scalar{0});
  }
}

LONGHAUL_VECTORIZED double cross_entropy(std::int64_t rows, std::int64_t classes, const std::int64_t* targets,
                                         Scalar scale, Scalar* logits) {
  double total = 0;
  for (std::int64_t row = 0; row < rows; ++row, logits += classes) {
    Scalar largest = logits[0], sum = 0;
#pragma omp simd reduction(max : largest)
    for (std::int64_t i = 0; i < classes; ++i) largest = largest < logits[i] ? logits[i] : largest;
    const Scalar target = logits[targets[row]] - largest;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < classes; ++i) {
      logits[i] = exponential(logits[i] - largest);
      sum += logits[i];
    }
    total += std::log(static_cast<double>(sum)) - target;
    const Scalar share = scale / sum;
    for (std::int64_t i = 0; i < classes; ++i) logits[i] *= share;
    logits[targets[row]] -= scale;
  }
  return total;
}

LONGHAUL_PRECISION_END
}  // namespace longhaul
