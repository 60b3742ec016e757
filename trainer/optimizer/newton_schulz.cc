#include "trainer/optimizer/newton_schulz.h"

#include <algorithm>

#include "core/base/index.h"
#include "trainer/model/gemm.h"
#include "trainer/optimizer/adamw.h"

namespace longhaul {
namespace {

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

}  // namespace longhaul
