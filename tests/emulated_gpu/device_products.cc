// Takes the place of trainer/cuda/device_products.cc: products by their definition, by columns as in a BLAS.
#include "trainer/device/device_products.h"

#include <ATen/ATen.h>

#include "tests/emulated_gpu/device_memory.h"

namespace longhaul {
namespace {

at::Tensor matrices(const ColumnMajorProduct::Matrix& matrix, std::int64_t batch, at::ScalarType type) {
  return at::from_blob(const_cast<void*>(matrix.data), {batch, matrix.rows, matrix.columns},
                       {matrix.batch_stride, 1, matrix.stride}, type);
}

class PlainProducts : public DeviceProducts {
 public:
  bool multiply(const BatchedProduct& product, CudaStream) override {
    const emulated::DeviceAtWork at_work;
    const ColumnMajorProduct columns = by_columns(product);
    const auto operand = [&](const ColumnMajorProduct::Matrix& matrix) {
      const at::Tensor all = matrices(matrix, product.batch, at::kBFloat16).to(at::kFloat);
      return matrix.transposed ? all.transpose(1, 2) : all;
    };
    const at::Tensor found = at::bmm(operand(columns.left), operand(columns.right));
    at::Tensor result =
        matrices(columns.result, product.batch, product.c_is_float ? at::kFloat : at::kBFloat16);
    product.adds ? result.add_(found) : result.copy_(found);
    return true;
  }
};

}  // namespace

std::unique_ptr<DeviceProducts> make_device_products() {
  return std::make_unique<PlainProducts>();
}

}  // namespace longhaul
