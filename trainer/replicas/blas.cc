#include "trainer/replicas/blas.h"

#include <dlfcn.h>

namespace longhaul {
namespace {

// LibTorch brings the BLAS along as a shared library; which one is decided when the program starts.
template <typename Function>
Function* symbol(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

void use_one_blas_thread() {
  if (auto* set = symbol<void(int)>("openblas_set_num_threads")) set(1);
}

std::string blas_name() {
  auto* config = symbol<char*()>("openblas_get_config");
  return config ? config() : "unknown";
}

}  // namespace longhaul
