// Where LibTorch's tensors lie.
#pragma once

#include <ATen/core/Tensor.h>

#include "trainer/device/cuda_device.h"
#include "trainer/device/device.h"

namespace longhaul {

inline at::Device torch_device(Device device) {
  const int number = device == Device::kCuda ? device_number() : kHostMemory;
  return number == kHostMemory ? at::Device(at::kCPU)
                               : at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(number));
}

}  // namespace longhaul
