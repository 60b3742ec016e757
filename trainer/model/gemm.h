// Products of row-major float32 matrices on the libraries below LibTorch, without the cost of a tensor: a
// layer of a small model is dozens of products of some ten microseconds each. oneDNN where it is there, since
// it knows the vector units of processors that are newer than the BLAS; else the BLAS.
#pragma once

#include <cstdint>

#include "trainer/model/scalar.h"

namespace longhaul {
LONGHAUL_PRECISION_BEGIN

// A matrix in memory, rows `stride` apart; `transposed` reads it the other way round.
struct Operand {
  const Scalar* data;
  std::int64_t stride;
  bool transposed = false;
};

inline Operand transposed(const Scalar* data, std::int64_t stride) {
  return {data, stride, true};
}

// c [m, n], rows `stride` apart, becomes alpha · a [m, k] · b [k, n] + beta · c; with beta 0 what was there
// does not matter. On the calling thread alone once use_one_blas_thread() was called and, by this thread,
// use_one_torch_thread(). Throws RunError where memory is short.
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Scalar alpha, const Operand& a,
              const Operand& b, Scalar beta, Scalar* c, std::int64_t stride);

// The same by the BLAS: where there is no oneDNN.
void multiply_by_blas(std::int64_t m, std::int64_t n, std::int64_t k, Scalar alpha, const Operand& a,
                      const Operand& b, Scalar beta, Scalar* c, std::int64_t stride);

// The same through LibTorch's tensors: where neither can be called by name, and for the test.
void multiply_by_tensors(std::int64_t m, std::int64_t n, std::int64_t k, Scalar alpha, const Operand& a,
                         const Operand& b, Scalar beta, Scalar* c, std::int64_t stride);

LONGHAUL_PRECISION_END
}  // namespace longhaul
