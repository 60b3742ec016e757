#include "trainer/model/gemm.h"

#include <ATen/ATen.h>
#include <dlfcn.h>

#include "core/errors.h"
#include "trainer/replicas/blas.h"

namespace longhaul {
namespace {

// BLAS, Fortran: column-major, everything by reference.
using Sgemm = void(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
                   const int*, const float*, const int*, const float*, float*, const int*);

at::Tensor tensor(const Operand& operand, std::int64_t rows, std::int64_t columns) {
  const std::array<std::int64_t, 2> strides = {operand.transposed ? 1 : operand.stride,
                                               operand.transposed ? operand.stride : 1};
  return at::from_blob(const_cast<float*>(operand.data), {rows, columns}, strides, at::kFloat);
}

}  // namespace

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const Operand& a, const Operand& b,
              float beta, float* c, std::int64_t stride) {
  auto* const product = onednn_product();
  if (product == nullptr) return multiply_by_blas(m, n, k, alpha, a, b, beta, c, stride);
  const int status = product(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, alpha, a.data,
                             a.stride, b.data, b.stride, beta, c, stride);
  if (status != 0)
    throw RunError("oneDNN could not multiply matrices of " + std::to_string(m) + " x " + std::to_string(k) +
                   " and " + std::to_string(k) + " x " + std::to_string(n) + " (its status is " +
                   std::to_string(status) + "; 1 is a lack of memory)");
}

// A row-major matrix is its transpose in column-major order: cᵀ = bᵀ aᵀ.
void multiply_by_blas(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const Operand& a,
                      const Operand& b, float beta, float* c, std::int64_t stride) {
  static Sgemm* const sgemm = reinterpret_cast<Sgemm*>(dlsym(RTLD_DEFAULT, "sgemm_"));
  if (sgemm == nullptr) return multiply_by_tensors(m, n, k, alpha, a, b, beta, c, stride);
  const int rows = static_cast<int>(n), columns = static_cast<int>(m), inner = static_cast<int>(k),
            stride_a = static_cast<int>(a.stride), stride_b = static_cast<int>(b.stride),
            stride_c = static_cast<int>(stride);
  sgemm(b.transposed ? "T" : "N", a.transposed ? "T" : "N", &rows, &columns, &inner, &alpha, b.data,
        &stride_b, a.data, &stride_a, &beta, c, &stride_c);
}

void multiply_by_tensors(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const Operand& a,
                         const Operand& b, float beta, float* c, std::int64_t stride) {
  const at::NoGradGuard no_gradient;
  const at::Tensor product = at::mm(tensor(a, m, k), tensor(b, k, n)).mul_(alpha);
  at::Tensor target = tensor({c, stride}, m, n);
  beta == 0 ? target.copy_(product) : target.mul_(beta).add_(product);
}

}  // namespace longhaul
