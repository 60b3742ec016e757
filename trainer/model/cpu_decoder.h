// The decoder of decoder.h on a CPU, with its backward pass written out: matrix products on the BLAS, one
// pass of kernels.h between them, and no memory asked for in a step.
//
// Attention works on blocks of query rows, so that products of the masked half are left out.
#pragma once

#include <vector>

#include "core/base/pool.h"
#include "trainer/model/boundaries.h"
#include "trainer/model/decoder.h"
#include "trainer/model/scalar.h"

namespace longhaul {
LONGHAUL_PRECISION_BEGIN

class CpuDecoder {
 public:
  explicit CpuDecoder(const ModelShape& shape, Boundaries boundaries = {});
  ~CpuDecoder();

  // As Decoder's; from several threads at once: each call takes a workspace of its own.
  double loss(const Scalar* weights, const Batch& batch) const { return loss(weights, batch, boundaries_); }
  double loss_and_gradient(const Scalar* weights, Scalar* gradient, const Batch& batch) const {
    return loss_and_gradient(weights, gradient, batch, boundaries_, nullptr);
  }

  // The same with boundaries of the call. `rounding` may be null, else it is overwritten.
  double loss(const Scalar* weights, const Batch& batch, const Boundaries& boundaries) const;
  // −log p of each predicted token, [sequences, context].
  std::vector<double> token_losses(const Scalar* weights, const Batch& batch,
                                   const Boundaries& boundaries) const;
  double loss_and_gradient(const Scalar* weights, Scalar* gradient, const Batch& batch,
                           const Boundaries& boundaries, RoundingEffects* rounding) const;

 private:
  class Pass;
  struct Workspace;

  ModelShape shape_;
  Boundaries boundaries_;
  std::vector<Scalar> cosine_, sine_;  // [context, width of a head / 2]
  mutable Pool<Workspace> workspaces_;
};

LONGHAUL_PRECISION_END
}  // namespace longhaul
