#include "trainer/model/gemm.h"

#include <ATen/ATen.h>
#include <ATen/Version.h>
#include <c10/core/GradMode.h>
#include <fmt/core.h>
#ifdef LONGHAUL_ONEDNN
#include <dnnl.h>
#include <dnnl_debug.h>
#endif
#ifdef LONGHAUL_OPENBLAS
#include <cblas.h>
#endif

#include <cstdlib>

#include "core/base/errors.h"
#include "trainer/device/device.h"

#ifdef LONGHAUL_TORCH_SGEMM
// The BLAS inside a PyTorch (MKL), by its Fortran name; sizes of 32 bits, matrices by columns.
extern "C" void sgemm_(const char* way_a, const char* way_b, const int* m, const int* n, const int* k,
                       const float* alpha, const float* a, const int* a_stride, const float* b,
                       const int* b_stride, const float* beta, float* c, const int* c_stride);
#endif

namespace longhaul {
namespace {

at::Tensor tensor(const Operand& operand, std::int64_t rows, std::int64_t columns) {
  const std::array<std::int64_t, 2> strides = {operand.transposed ? 1 : operand.stride,
                                               operand.transposed ? operand.stride : 1};
  return at::from_blob(const_cast<float*>(operand.data), {rows, columns}, strides, at::kFloat);
}

#ifdef LONGHAUL_ONEDNN
void multiply_by_onednn(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const Operand& a,
                        const Operand& b, float beta, float* c, std::int64_t stride) {
  const dnnl_status_t status = dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, alpha,
                                          a.data, a.stride, b.data, b.stride, beta, c, stride);
  if (status != dnnl_success)
    throw RunError(fmt::format("oneDNN could not multiply matrices of {} x {} and {} x {}: {}", m, k, k, n,
                               dnnl_status2str(status)));
}
#else
constexpr auto multiply_by_onednn = multiply_by_blas;
#endif

#ifdef __x86_64__
constexpr bool kOnednnIsFast = true;
#else
constexpr bool kOnednnIsFast = false;  // not measured on other processors
#endif

decltype(&multiply) choose_product() {
  const char* variable = std::getenv("LONGHAUL_PRODUCTS");
  const std::string wish = variable ? variable : "";
  if (!wish.empty() && wish != "onednn" && wish != "blas")
    throw InputError("LONGHAUL_PRODUCTS", fmt::format("found \"{}\"", wish), "onednn or blas");
  if (wish == "onednn" && !has_onednn())
    throw InputError("LONGHAUL_PRODUCTS", "found \"onednn\", but this build has none", "blas",
                     "leave it unset");
  const bool is_onednn = wish == "onednn" || (wish.empty() && has_onednn() && kOnednnIsFast);
  return is_onednn ? multiply_by_onednn : multiply_by_blas;
}

decltype(&multiply) chosen_product() {
  static const auto product = choose_product();
  return product;
}

}  // namespace

bool has_onednn() {
#ifdef LONGHAUL_ONEDNN
  return true;
#else
  return false;
#endif
}

void prepare_products() {
  chosen_product();
#ifdef LONGHAUL_OPENBLAS
  openblas_set_num_threads(1);
#endif
}

std::string blas_name() {
  std::string name;
#ifdef LONGHAUL_ONEDNN
  const dnnl_version_t& version = *dnnl_version();
  if (chosen_product() == multiply_by_onednn)
    name = fmt::format("oneDNN {}.{}.{} (instruction set {:#x}), ", version.major, version.minor,
                       version.patch, static_cast<unsigned>(dnnl_get_effective_cpu_isa()));
#endif
#ifdef LONGHAUL_OPENBLAS
  // Once: OpenBLAS writes its answer into a buffer that all threads share.
  static const std::string openblas = openblas_get_config();
  return name + openblas;
#elif defined(LONGHAUL_TORCH_SGEMM)
  return name + at::get_mkl_version();
#else
  return name + "LibTorch " + torch_version();
#endif
}

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const Operand& a, const Operand& b,
              float beta, float* c, std::int64_t stride) {
  chosen_product()(m, n, k, alpha, a, b, beta, c, stride);
}

void multiply_by_blas(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const Operand& a,
                      const Operand& b, float beta, float* c, std::int64_t stride) {
#ifdef LONGHAUL_OPENBLAS
  const auto way = [](const Operand& operand) { return operand.transposed ? CblasTrans : CblasNoTrans; };
  const auto number = [](std::int64_t value) { return static_cast<blasint>(value); };
  cblas_sgemm(CblasRowMajor, way(a), way(b), number(m), number(n), number(k), alpha, a.data, number(a.stride),
              b.data, number(b.stride), beta, c, number(stride));
#elif defined(LONGHAUL_TORCH_SGEMM)
  // By columns c is its transpose, bᵀ aᵀ.
  const auto way = [](const Operand& operand) { return operand.transposed ? 'T' : 'N'; };
  const char way_a = way(a), way_b = way(b);
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), inner = static_cast<int>(k),
            a_stride = static_cast<int>(a.stride), b_stride = static_cast<int>(b.stride),
            c_stride = static_cast<int>(stride);
  sgemm_(&way_b, &way_a, &columns, &rows, &inner, &alpha, b.data, &b_stride, a.data, &a_stride, &beta, c,
         &c_stride);
#else
  multiply_by_tensors(m, n, k, alpha, a, b, beta, c, stride);
#endif
}

void multiply_by_tensors(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const Operand& a,
                         const Operand& b, float beta, float* c, std::int64_t stride) {
  const c10::NoGradGuard no_gradient;
  at::Tensor target = tensor({c, stride}, m, n);
  at::addmm_out(target, target, tensor(a, m, k), tensor(b, k, n), beta, alpha);
}

}  // namespace longhaul
