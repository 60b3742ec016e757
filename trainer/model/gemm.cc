#include "trainer/model/gemm.h"

#include <ATen/ATen.h>
#include <ATen/Version.h>
#include <c10/core/GradMode.h>
#include <fmt/core.h>
#ifdef LONGHAUL_ONEDNN
#include <dnnl.h>
#include <dnnl_debug.h>
#endif

#include <cstdlib>

#include "core/base/errors.h"
#include "trainer/device/device.h"

// Of the BLAS below LibTorch, where it is OpenBLAS.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int threads);
extern "C" __attribute__((weak)) char* openblas_get_config();

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
constexpr auto multiply_by_onednn = multiply_by_tensors;
#endif

#ifdef __x86_64__
constexpr bool kOnednnIsFast = true;
#else
constexpr bool kOnednnIsFast = false;  // not measured on other processors
#endif

decltype(&multiply) choose_product() {
  const char* variable = std::getenv("LONGHAUL_PRODUCTS");
  const std::string wish = variable ? variable : "";
  if (!wish.empty() && wish != "onednn" && wish != "tensors")
    throw InputError("LONGHAUL_PRODUCTS", fmt::format("found \"{}\"", wish), "onednn or tensors");
  if (wish == "onednn" && !has_onednn())
    throw InputError("LONGHAUL_PRODUCTS", "found \"onednn\", but this build has none", "tensors",
                     "leave it unset");
  const bool is_onednn = wish == "onednn" || (wish.empty() && has_onednn() && kOnednnIsFast);
  return is_onednn ? multiply_by_onednn : multiply_by_tensors;
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
  if (openblas_set_num_threads) openblas_set_num_threads(1);
}

std::string blas_name() {
  std::string name;
#ifdef LONGHAUL_ONEDNN
  const dnnl_version_t& version = *dnnl_version();
  if (chosen_product() == multiply_by_onednn)
    name = fmt::format("oneDNN {}.{}.{} (instruction set {:#x}), ", version.major, version.minor,
                       version.patch, static_cast<unsigned>(dnnl_get_effective_cpu_isa()));
#endif
  // Once: OpenBLAS writes its answer into a buffer that all threads share.
  static const std::string below = openblas_get_config
                                       ? openblas_get_config()
                                       : "LibTorch " + torch_version() + ", " + at::get_mkl_version();
  return name + below;
}

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const Operand& a, const Operand& b,
              float beta, float* c, std::int64_t stride) {
  chosen_product()(m, n, k, alpha, a, b, beta, c, stride);
}

void multiply_by_tensors(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const Operand& a,
                         const Operand& b, float beta, float* c, std::int64_t stride) {
  const c10::NoGradGuard no_gradient;
  at::Tensor target = tensor({c, stride}, m, n);
  at::addmm_out(target, target, tensor(a, m, k), tensor(b, k, n), beta, alpha);
}

}  // namespace longhaul
