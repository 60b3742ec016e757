#include "trainer/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/csrc/api/include/torch/version.h>

#include "core/errors.h"

namespace longhaul {

Device choose_device(const std::string& wanted, const std::string& path) {
  const bool has_gpu = at::hasCUDA();
  if (wanted == "cuda" && !has_gpu)
    throw InputError({"", path, "found \"cuda\", but LibTorch " + torch_version() + " sees no GPU here",
                      "\"cpu\" or \"auto\"", "use auto to take a GPU only where there is one"});
  return has_gpu && wanted != "cpu" ? Device::kCuda : Device::kCpu;
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
