// Products of matrices in bf16, of all replicas at once, with float32 sums: through cuBLASLt, which has
// several kernels for a shape. The one that it recommends first decides the bits; of the others those that
// leave the same bits are timed, once for each shape, and the fastest is taken. So no bit depends on what was
// timed.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "trainer/device/cuda_device.h"

namespace longhaul {

// Matrices in bf16, batch_stride numbers apart, their rows `stride` apart; `transposed` reads them the other
// way round.
struct ProductOperand {
  const void* data;
  std::int64_t stride, batch_stride;
  bool transposed = false;
};

// c [m, n] (+)= a [m, k] · b [k, n], `batch` times.
struct BatchedProduct {
  std::int64_t batch, m, n, k;
  ProductOperand a, b;
  void* c;  // float32 or bf16
  std::int64_t c_stride, c_batch_stride;
  bool c_is_float, adds;
};

// The same as a BLAS takes it, whose matrices lie column by column: cᵀ = bᵀ aᵀ.
struct ColumnMajorProduct {
  struct Matrix {
    const void* data;
    std::int64_t rows, columns, stride, batch_stride;  // as it lies there, columns `stride` apart
    bool transposed;
  };
  Matrix left, right, result;
};

inline ColumnMajorProduct by_columns(const BatchedProduct& p) {
  // A matrix [rows, columns] by rows is its transpose by columns.
  const auto matrix = [](const ProductOperand& operand, std::int64_t rows, std::int64_t columns) {
    if (operand.transposed) std::swap(rows, columns);
    return ColumnMajorProduct::Matrix{operand.data,         columns,           rows, operand.stride,
                                      operand.batch_stride, operand.transposed};
  };
  return {matrix(p.b, p.k, p.n), matrix(p.a, p.m, p.k), {p.c, p.n, p.m, p.c_stride, p.c_batch_stride, false}};
}

// Bytes on the card, of each DeviceProducts: what PyTorch gives cuBLASLt on a Hopper card.
constexpr std::int64_t kProductsWorkspace = std::int64_t{32} << 20;

class DeviceProducts {
 public:
  virtual ~DeviceProducts() = default;

  // On the stream, without waiting, but for the first product of a shape, which must not be captured if it is
  // to be timed. Returns false, and does nothing, where the library has no kernel for the shape. Throws
  // RunError.
  virtual bool multiply(const BatchedProduct& product, CudaStream stream) = 0;
};

// Of the current device (cuda/device_products.cc). Throws RunError.
std::unique_ptr<DeviceProducts> make_device_products();

}  // namespace longhaul
