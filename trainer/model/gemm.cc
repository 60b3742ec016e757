#include "trainer/model/gemm.h"

#include <fmt/core.h>
#ifdef LONGHAUL_ONEDNN
#include <dnnl.h>
#include <dnnl_debug.h>
#endif

#include <cstdlib>

#include "core/base/errors.h"
#include "trainer/model/libtorch.h"

// Of OpenMP, whose threads oneDNN takes.
extern "C" __attribute__((weak)) void omp_set_num_threads(int threads);

namespace longhaul {
namespace {

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
}

void use_one_thread() {
  if (omp_set_num_threads) omp_set_num_threads(1);
  use_one_thread_of_libtorch();
}

std::string blas_name() {
#ifdef LONGHAUL_ONEDNN
  const dnnl_version_t& version = *dnnl_version();
  if (chosen_product() == multiply_by_onednn)
    return fmt::format("oneDNN {}.{}.{} (instruction set {:#x}){}", version.major, version.minor,
                       version.patch, static_cast<unsigned>(dnnl_get_effective_cpu_isa()),
                       computes_with_libtorch() ? fmt::format(", {}", libtorch().blas()) : "");
#endif
  return libtorch().blas();
}

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const Operand& a, const Operand& b,
              float beta, float* c, std::int64_t stride) {
  chosen_product()(m, n, k, alpha, a, b, beta, c, stride);
}

void multiply_by_tensors(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const Operand& a,
                         const Operand& b, float beta, float* c, std::int64_t stride) {
  libtorch().product(m, n, k, alpha, a, b, beta, c, stride);
}

}  // namespace longhaul
