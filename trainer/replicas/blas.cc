#include "trainer/replicas/blas.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "core/errors.h"

namespace longhaul {
namespace {

// LibTorch brings these libraries along as shared ones; which BLAS it is, is decided when the program starts.
template <typename Function>
Function* symbol(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// The beginning of oneDNN's dnnl_version_t.
struct OnednnVersion {
  int major, minor, patch;
};

std::string onednn_name() {
  auto* version = symbol<const OnednnVersion*()>("dnnl_version");
  auto* instructions = symbol<int()>("dnnl_get_effective_cpu_isa");
  if (!onednn_product() || !version || !instructions) return "";
  char text[80];
  std::snprintf(text, sizeof text, "oneDNN %d.%d.%d (instruction set 0x%x)", version()->major,
                version()->minor, version()->patch, static_cast<unsigned>(instructions()));
  return text;
}

#ifdef __x86_64__
constexpr bool kOnednnIsFast = true;
#else
constexpr bool kOnednnIsFast = false;  // not measured on other processors
#endif

RowMajorProduct* choose_onednn() {
  const char* variable = std::getenv("LONGHAUL_PRODUCTS");
  const std::string wish = variable ? variable : "";
  if (!wish.empty() && wish != "onednn" && wish != "blas")
    throw InputError("LONGHAUL_PRODUCTS", "found \"" + wish + "\"", "onednn or blas");
  if (wish == "blas" || (wish.empty() && !kOnednnIsFast)) return nullptr;
  auto* product = symbol<RowMajorProduct>("dnnl_sgemm");
  if (!product && wish == "onednn")
    throw InputError("LONGHAUL_PRODUCTS",
                     "found \"onednn\", but this LibTorch brings none that can be called", "blas",
                     "leave it unset");
  return product;
}

}  // namespace

void use_one_blas_thread() {
  if (auto* set = symbol<void(int)>("openblas_set_num_threads")) set(1);
}

RowMajorProduct* onednn_product() {
  static RowMajorProduct* const product = choose_onednn();
  return product;
}

std::string blas_name() {
  // Once: OpenBLAS writes its answer into a buffer that all threads share.
  static const std::string name = [] {
    std::string found = onednn_name();
    auto* config = symbol<char*()>("openblas_get_config");
    if (config) found += (found.empty() ? "" : ", ") + std::string(config());
    return found.empty() ? "unknown" : found;
  }();
  return name;
}

}  // namespace longhaul
