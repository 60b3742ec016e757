#include "trainer/device/device.h"

#include <torch/csrc/api/include/torch/version.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "core/base/errors.h"
#include "trainer/device/cuda_device.h"

namespace longhaul {
namespace {

// The two settings with which cuBLAS gives the same bits again; read when it is first used.
constexpr const char* kWorkspaces = "CUBLAS_WORKSPACE_CONFIG";
constexpr std::array<const char*, 2> kRepeatable = {":4096:8", ":16:8"};

}  // namespace

void use_repeatable_cublas() {
  const char* wanted = std::getenv(kWorkspaces);
  if (!wanted) {
    setenv(kWorkspaces, kRepeatable[0], 1);
    return;
  }
  for (const char* setting : kRepeatable)
    if (std::string(wanted) == setting) return;
  throw InputError(kWorkspaces, std::string("found \"") + wanted + "\"",
                   std::string(kRepeatable[0]) + " or " + kRepeatable[1],
                   "with others cuBLAS may give other bits each time; leave it unset");
}

Device choose_device(const std::string& wanted, const std::string& path) {
  const bool has_gpu = built_with_cuda() && device_count() > 0;
  if (wanted == "cuda" && !built_with_cuda())
    throw InputError(path, "found \"cuda\", but longhaul-train was built without CUDA", "\"cpu\" or \"auto\"",
                     "docs/howto/gpu.md says how to build for GPUs");
  if (wanted == "cuda" && !has_gpu)
    throw InputError(path, "found \"cuda\", but LibTorch " + torch_version() + " sees no GPU here",
                     "\"cpu\" or \"auto\"", "use auto to take a GPU only where there is one");
  if (!has_gpu || wanted == "cpu") return Device::kCpu;
  use_repeatable_cublas();
  return Device::kCuda;
}

std::string to_string(Device device) {
  return device == Device::kCuda ? "cuda" : "cpu";
}

bool uses(GpuPart part) {
  constexpr const char* kVariable = "LONGHAUL_GPU";
  constexpr std::array<const char*, 3> kWords = {"nograph", "nolt", "noflash"};  // as GpuPart
  const char* value = std::getenv(kVariable);
  bool is_left_out = false;
  std::istringstream words(value ? value : "");
  for (std::string word; std::getline(words, word, ',');) {
    const auto found = std::find(kWords.begin(), kWords.end(), word);
    if (found == kWords.end())
      throw InputError(kVariable, "found \"" + word + "\"",
                       "nograph, nolt, noflash, with commas between them");
    is_left_out = is_left_out || found - kWords.begin() == static_cast<std::ptrdiff_t>(part);
  }
  return !is_left_out;
}

std::string torch_version() {
  return TORCH_VERSION;
}

}  // namespace longhaul
