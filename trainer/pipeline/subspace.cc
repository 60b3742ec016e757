#include "trainer/pipeline/subspace.h"

#include <algorithm>
#include <cmath>

#include "core/base/index.h"
#include "core/base/random.h"
#include "trainer/model/gemm.h"

namespace longhaul {
namespace {

// Columns one after another, each less its parts along those before it (twice, for rounding), then of length
// one.
std::vector<float> orthonormal_columns(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  RandomStream stream(seed, Purpose::kSubspace);
  std::vector<std::vector<double>> basis;
  for (std::int64_t c = 0; c < columns; ++c) {
    std::vector<double> column(as_index(rows));
    for (double& value : column) value = stream.normal();
    for (int pass = 0; pass < 2; ++pass)
      for (const std::vector<double>& other : basis) {
        double along = 0;
        for (std::size_t i = 0; i < column.size(); ++i) along += column[i] * other[i];
        for (std::size_t i = 0; i < column.size(); ++i) column[i] -= along * other[i];
      }
    double square = 0;
    for (const double value : column) square += value * value;
    for (double& value : column) value /= std::sqrt(square);
    basis.push_back(std::move(column));
  }
  std::vector<float> matrix(as_index(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t c = 0; c < columns; ++c)
      matrix[as_index(i * columns + c)] = static_cast<float>(basis[as_index(c)][as_index(i)]);
  return matrix;
}

}  // namespace

Subspace::Subspace(const ModelShape& shape, const PipelinePlan& plan, int rank, std::uint64_t seed,
                   const std::vector<float>& weights)
    : hidden_(shape.hidden),
      vocabulary_(shape.vocabulary),
      rank_(rank),
      basis_(orthonormal_columns(shape.hidden, rank, seed)),
      fixed_(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(vocabulary_ * hidden_)) {
  for (const Parameter& parameter : parameter_layout(shape))
    if (parameter.writes_residual && parameter.layer < plan.parts.back().first_layer)
      projections_.push_back({parameter.offset, parameter.columns});
}

void Subspace::project(float* weights) const {
  const Operand basis{basis_.data(), rank_};
  std::vector<float> coordinates(as_index(vocabulary_ * rank_));
  for (std::size_t i = 0; i < fixed_.size(); ++i) weights[i] -= fixed_[i];
  multiply(vocabulary_, rank_, hidden_, 1, {weights, hidden_}, basis, 0, coordinates.data(), rank_);
  multiply(vocabulary_, hidden_, rank_, 1, {coordinates.data(), rank_}, transposed(basis_.data(), rank_), 0,
           weights, hidden_);
  for (std::size_t i = 0; i < fixed_.size(); ++i) weights[i] += fixed_[i];
  for (const Matrix& matrix : projections_) {
    coordinates.resize(as_index(rank_ * matrix.columns));
    multiply(rank_, matrix.columns, hidden_, 1, transposed(basis_.data(), rank_),
             {weights + matrix.offset, matrix.columns}, 0, coordinates.data(), matrix.columns);
    multiply(hidden_, matrix.columns, rank_, 1, basis, {coordinates.data(), matrix.columns}, 0,
             weights + matrix.offset, matrix.columns);
  }
}

}  // namespace longhaul
