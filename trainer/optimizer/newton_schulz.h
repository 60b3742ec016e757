// The Newton–Schulz iteration by which Muon orthogonalizes a matrix (Jordan et al. 2024,
// https://kellerjordan.github.io/posts/muon/). With X = M / (‖M‖_F + 1e-7), each step is
//
//   A = X Xᵀ;  X ← a X + (b A + c A²) X,   (a, b, c) = (3.4445, −4.7750, 2.0315)
//
// or, where there are more rows than columns, the same of the transposed matrix: A = Xᵀ X;
// X ← a X + X (b A + c A²). Each singular value σ of X becomes a σ + b σ³ + c σ⁵: those that are not tiny end
// between about 0.7 and 1.2 after five steps, and the singular vectors stay. It does not converge to 1; these
// coefficients are the ones with the steepest start.
#pragma once

#include <cstdint>
#include <vector>

namespace longhaul {

struct NewtonSchulzCoefficients {
  float a = 3.4445f, b = -4.7750f, c = 2.0315f;
};
// Keeps a matrix of zeros from becoming one of NaN.
constexpr float kNewtonSchulzEpsilon = 1e-7f;

// On the host, in float32, by the products of model/gemm.h; the calling thread alone. Keeps its memory from
// one matrix to the next.
class NewtonSchulz {
 public:
  explicit NewtonSchulz(int steps) : steps_(steps) {}

  // `matrix` [rows, columns], row-major, in place.
  void orthogonalize(std::int64_t rows, std::int64_t columns, float* matrix);

 private:
  int steps_;
  std::vector<float> next_, gram_, polynomial_;
};

}  // namespace longhaul
