// Products of row-major float32 matrices on the libraries below LibTorch, without the cost of a tensor: a
// layer of a small model is dozens of products of some ten microseconds each. oneDNN, since it knows the
// vector units of processors that are newer than the BLAS; in a build without it LibTorch.
#pragma once

#include <cstdint>
#include <string>

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
// does not matter. On the calling thread alone once it has called use_one_thread(). Throws RunError where memory is short.
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Scalar alpha, const Operand& a,
              const Operand& b, Scalar beta, Scalar* c, std::int64_t stride);

// The same through LibTorch's tensors: in a build without oneDNN, on processors that are no x86-64, and where
// the environment says LONGHAUL_PRODUCTS=tensors.
void multiply_by_tensors(std::int64_t m, std::int64_t n, std::int64_t k, Scalar alpha, const Operand& a,
                         const Operand& b, Scalar beta, Scalar* c, std::int64_t stride);

LONGHAUL_PRECISION_END

// Whether this build has oneDNN (CMake, LONGHAUL_ONEDNN).
bool has_onednn();

// Once, before the first product: reads LONGHAUL_PRODUCTS. Throws InputError where it is neither "onednn", of
// a build that has it, nor "tensors".
void prepare_products();

// On the calling thread, products take no others: replicas fill the processor with a task each, so that those
// only fight with them (measured: three times slower).
void use_one_thread();

// What multiplies, and for which processor, since both decide the bits: "oneDNN 2.6.3 (instruction set 0xe7)",
// and the BLAS below LibTorch where LibTorch computes.
std::string blas_name();

}  // namespace longhaul
