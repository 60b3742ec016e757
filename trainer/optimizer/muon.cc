#include "trainer/optimizer/muon.h"

#include <algorithm>
#include <cmath>

#include "core/base/index.h"
#include "trainer/model/gemm.h"
#include "trainer/replicas/vectorized.h"

namespace longhaul {
namespace {

double scale_of(MuonScale kind, std::int64_t rows, std::int64_t columns) {
  const auto tall = static_cast<double>(rows), wide = static_cast<double>(columns);
  return kind == MuonScale::kAdamw ? 0.2 * std::sqrt(std::max(tall, wide))
                                   : std::sqrt(std::max(1., tall / wide));
}

LONGHAUL_VECTORIZED void look_ahead(const float momentum, const float clip, const std::int64_t count,
                                    const float* __restrict gradient, float* __restrict first,
                                    float* __restrict ahead) {
  for (std::int64_t i = 0; i < count; ++i) ahead[i] = muon_look_ahead(momentum, clip * gradient[i], first[i]);
}

LONGHAUL_VECTORIZED void update(const MuonScalars step, const float scale, const std::int64_t count,
                                const float* __restrict orthogonal, float* __restrict weights) {
  for (std::int64_t i = 0; i < count; ++i) muon_column(step, scale, orthogonal[i], weights[i]);
}

void at_least(std::vector<float>& memory, std::int64_t count) {
  if (memory.size() < as_index(count)) memory.resize(as_index(count));
}

}  // namespace

void NewtonSchulz::orthogonalize(std::int64_t rows, std::int64_t columns, float* matrix) {
  constexpr NewtonSchulzCoefficients k;
  const std::int64_t count = rows * columns, side = std::min(rows, columns);
  const bool is_wide = rows <= columns;
  at_least(next_, count);
  at_least(gram_, side * side);
  at_least(polynomial_, side * side);
  float *next = next_.data(), *gram = gram_.data(), *polynomial = polynomial_.data();

  const float factor = 1 / (static_cast<float>(row_norm(matrix, count)) + kNewtonSchulzEpsilon);
  for (std::int64_t i = 0; i < count; ++i) matrix[i] *= factor;
  const Operand x{matrix, columns}, turned = transposed(matrix, columns);
  for (int step = 0; step < steps_; ++step) {
    multiply(side, side, std::max(rows, columns), 1, is_wide ? x : turned, is_wide ? turned : x, 0, gram,
             side);
    std::copy_n(gram, side * side, polynomial);
    multiply(side, side, side, k.c, {gram, side}, {gram, side}, k.b, polynomial, side);
    std::copy_n(matrix, count, next);
    const Operand p{polynomial, side};
    multiply(rows, columns, side, 1, is_wide ? p : x, is_wide ? x : p, k.a, next, columns);
    std::copy_n(next, count, matrix);
  }
}

std::vector<MuonMatrix> muon_matrices(const ModelShape& shape, const OptimizerSpec& spec) {
  std::vector<MuonMatrix> matrices;
  if (spec.name != InnerOptimizer::kMuon) return matrices;
  for (const Parameter& parameter : parameter_layout(shape))
    if (parameter.layer >= 0 && !parameter.is_norm)
      matrices.push_back(
          {parameter.offset, parameter.rows, parameter.columns,
           static_cast<float>(scale_of(spec.update_scale, parameter.rows, parameter.columns))});
  return matrices;
}

std::vector<DecayRange> adamw_columns(const ModelShape& shape, const std::vector<MuonMatrix>& muon) {
  std::vector<DecayRange> ranges;
  for (const Parameter& parameter : parameter_layout(shape)) {
    const bool is_muons = std::any_of(muon.begin(), muon.end(), [&](const MuonMatrix& matrix) {
      return matrix.offset == parameter.offset;
    });
    if (is_muons) continue;
    const std::int64_t end = parameter.offset + parameter.size();
    const bool adjoins = !ranges.empty() && ranges.back().end == parameter.offset;
    if (adjoins && ranges.back().decays == !parameter.is_norm)
      ranges.back().end = end;
    else
      ranges.push_back({parameter.offset, end, !parameter.is_norm});
  }
  return ranges;
}

MuonScalars muon_scalars(const OptimizerSpec& spec, double lr) {
  return {static_cast<float>(lr), static_cast<float>(1 - lr * spec.weight_decay)};
}

void muon_step(const OptimizerSpec& spec, double lr, double clip, const std::vector<MuonMatrix>& matrices,
               const MuonRows& rows) {
  const MuonScalars scalars = muon_scalars(spec, lr);
  NewtonSchulz newton_schulz(spec.newton_schulz_steps);
  std::vector<float> ahead;
  for (const MuonMatrix& matrix : matrices) {
    ahead.resize(std::max(ahead.size(), as_index(matrix.size())));
    look_ahead(static_cast<float>(spec.momentum), static_cast<float>(clip), matrix.size(),
               rows.gradient + matrix.offset, rows.first_moment + matrix.offset, ahead.data());
    newton_schulz.orthogonalize(matrix.rows, matrix.columns, ahead.data());
    update(scalars, matrix.scale, matrix.size(), ahead.data(), rows.weights + matrix.offset);
  }
}

}  // namespace longhaul
