// LibTorch as it is linked in, or from the module beside the program.
#include <dlfcn.h>
#include <fmt/core.h>

#include <atomic>

#include "core/base/errors.h"
#include "trainer/device/address_space.h"
#include "trainer/model/libtorch.h"

// libtorch.cc, where it is linked in.
extern "C" __attribute__((weak)) const longhaul::LibTorch* longhaul_libtorch();

namespace longhaul {
namespace {

std::atomic<bool> computes{false};

// By the RUNPATH of the program: beside it, or in lib/longhaul of where it is installed.
const LibTorch* load() {
  constexpr const char* kModule = "liblonghaul_torch.so";
  check_address_space();
  void* module = dlopen(kModule, RTLD_NOW);
  void* parts = module ? dlsym(module, "longhaul_libtorch") : nullptr;
  if (!parts) throw RunError(fmt::format("LibTorch could not be loaded: {}", dlerror()));
  return reinterpret_cast<decltype(&longhaul_libtorch)>(parts)();
}

const LibTorch& first() {
  const LibTorch& parts = longhaul_libtorch ? *longhaul_libtorch() : *load();
  parts.use_one_thread();
  computes = true;
  return parts;
}

}  // namespace

const LibTorch& libtorch() {
  static const LibTorch& parts = first();
  return parts;
}

bool computes_with_libtorch() {
  return computes;
}

void use_one_thread_of_libtorch() {
  if (longhaul_libtorch)
    longhaul_libtorch()->use_one_thread();
  else if (computes)
    libtorch().use_one_thread();
}

}  // namespace longhaul
