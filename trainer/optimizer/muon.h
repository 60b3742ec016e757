// Muon (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon/): momentum on the matrices of the
// layers, orthogonalized. Embedding, output and norms stay with AdamW. At a step, with g the clipped gradient
// of one matrix,
//
//   m ← μ m + g;   O = orthogonalized(g + μ m)   (Nesterov look-ahead; NewtonSchulz)
//   θ ← θ − lr · decay · θ − lr · s · O
//
// s = 0.2 · sqrt(max(rows, columns)) gives the step the root mean square of AdamW's, so that one learning
// rate serves both ("Muon is scalable for LLM training", arXiv 2502.16982, section 2.2); s = sqrt(max(1,
// rows/columns)) is Jordan's. m is in the row of the first moment; the second moment of these columns stays
// zero. query, key, value, gate and up are matrices of their own, though they lie side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/model_shape.h"
#include "core/scenario/inner_optimizer.h"
#include "trainer/device/host_device.h"
#include "trainer/optimizer/adamw.h"

namespace longhaul {

// The Newton–Schulz iteration by which Muon orthogonalizes a matrix (Jordan et al. 2024,
// https://kellerjordan.github.io/posts/muon/). With X = M / (‖M‖_F + 1e-7), each step is
//
//   A = X Xᵀ;  X ← a X + (b A + c A²) X,   (a, b, c) = (3.4445, −4.7750, 2.0315)
//
// or, where there are more rows than columns, the same of the transposed matrix: A = Xᵀ X;
// X ← a X + X (b A + c A²). Each singular value σ of X becomes a σ + b σ³ + c σ⁵: those that are not tiny end
// between about 0.7 and 1.2 after five steps, and the singular vectors stay. It does not converge to 1; these
// coefficients are the ones with the steepest start.
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

// Columns offset … offset + rows · columns - 1 of a replica's row.
struct MuonMatrix {
  std::int64_t offset = 0, rows = 0, columns = 0;
  float scale = 0;  // s

  std::int64_t size() const { return rows * columns; }
};

// In the order of their offsets; none where the optimizer is AdamW.
std::vector<MuonMatrix> muon_matrices(const ModelShape& shape, const OptimizerSpec& spec);

// AdamW's: all columns that are in none of them.
std::vector<DecayRange> adamw_columns(const ModelShape& shape, const std::vector<MuonMatrix>& muon);

// Of a step, worked out in double: keep = 1 − lr · decay.
struct MuonScalars {
  float lr, keep;
};
MuonScalars muon_scalars(const OptimizerSpec& spec, double lr);

// One column, on the host and on a GPU: before the orthogonalization (returns what goes into it), and after.
LONGHAUL_HOST_DEVICE LONGHAUL_ALWAYS_INLINE float muon_look_ahead(float momentum, float g, float& first) {
  first = momentum * first + g;
  return g + momentum * first;
}
LONGHAUL_HOST_DEVICE LONGHAUL_ALWAYS_INLINE void muon_column(const MuonScalars& step, float scale,
                                                             float orthogonal, float& weight) {
  weight = step.keep * weight - step.lr * scale * orthogonal;
}

struct MuonRows {
  float* weights;
  const float* gradient;
  float* first_moment;
};

// One replica's matrices; `clip` is the factor on the gradient.
void muon_step(const OptimizerSpec& spec, double lr, double clip, const std::vector<MuonMatrix>& matrices,
               const MuonRows& rows);

}  // namespace longhaul
