// The matrix products of gemm.h in float64, as plain loops: what the decoder's float64 build multiplies with.
#include "trainer/model/gemm.h"

namespace longhaul::float64 {

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, double alpha, const Operand& a,
              const Operand& b, double beta, double* c, std::int64_t stride) {
  const auto element = [](const Operand& matrix, std::int64_t row, std::int64_t column) {
    return matrix.data[matrix.transposed ? column * matrix.stride + row : row * matrix.stride + column];
  };
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < k; ++l) sum += element(a, i, l) * element(b, l, j);
      double& out = c[i * stride + j];
      out = alpha * sum + (beta == 0 ? 0 : beta * out);
    }
}

}  // namespace longhaul::float64
