#include "trainer/device/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/csrc/api/include/torch/version.h>

#include <cstdlib>

#include "core/errors.h"
#include "trainer/device/cuda_device.h"

namespace longhaul {

Device choose_device(const std::string& wanted, const std::string& path) {
  const bool has_gpu = built_with_cuda() && at::hasCUDA();
  if (wanted == "cuda" && !built_with_cuda())
    throw InputError(path, "found \"cuda\", but longhaul-train was built without CUDA", "\"cpu\" or \"auto\"",
                     "see the GPU section of docs/trainer.md");
  if (wanted == "cuda" && !has_gpu)
    throw InputError(path, "found \"cuda\", but LibTorch " + torch_version() + " sees no GPU here",
                     "\"cpu\" or \"auto\"", "use auto to take a GPU only where there is one");
  if (!has_gpu || wanted == "cpu") return Device::kCpu;
  // One of the two settings with which cuBLAS gives the same bits again; read when it is first used.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  return Device::kCuda;
}

std::string to_string(Device device) {
  return device == Device::kCuda ? "cuda" : "cpu";
}

void use_one_torch_thread() {
  at::set_num_threads(1);
}

std::string torch_version() {
  return TORCH_VERSION;
}

}  // namespace longhaul
