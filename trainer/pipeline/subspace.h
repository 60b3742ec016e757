// Stage boundaries in a subspace: what the first parts add to the residual stream lies in span(U), U [hidden,
// rank] orthonormal and fixed, so that x − E₀[token] has `rank` coordinates, which pass a boundary without
// loss (Protocol Models, arXiv 2506.01260; E₀: the embedding at the start, which every stage knows). The
// gradient passes back as as many: what of it lies outside changes nothing that may change.
//
// The trained model is the constrained one. Of all parts but the last, whose output passes no boundary:
//
//   E ← E₀ + (E − E₀) U Uᵀ         W ← U Uᵀ W  for each projection into the residual stream
//
// after the initialization and after every step of the optimizer (projected AdamW). The publication keeps
// weights inside by an optimizer of its own; this is ours. U is drawn from the seed: normal numbers, made
// orthonormal column by column.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/model_shape.h"
#include "core/plan/pipeline.h"

namespace longhaul {

class Subspace {
 public:
  // `weights` [P]: the initial ones, whose embedding is E₀. `rank` ≤ hidden.
  Subspace(const ModelShape& shape, const PipelinePlan& plan, int rank, std::uint64_t seed,
           const std::vector<float>& weights);

  // Of a replica's weights [P], in place. Several threads may call it, each with a row of its own.
  void project(float* weights) const;

  const std::vector<float>& basis() const { return basis_; }  // U, row-major

 private:
  struct Matrix {
    std::int64_t offset = 0, columns = 0;  // [hidden, columns] in the row
  };

  std::int64_t hidden_, vocabulary_, rank_;
  std::vector<float> basis_, fixed_;  // U; E₀
  std::vector<Matrix> projections_;   // into the residual stream
};

}  // namespace longhaul
