// Takes the place of trainer/cuda/launch.cuh: the sources of the kernels, compiled as plain C++, go through
// their rows and columns on the host. A team is one lane.
#pragma once

#include "tests/emulated_gpu/device_memory.h"
#include "trainer/device/cuda_device.h"
#include "trainer/device/host_device.h"

namespace longhaul {

struct CudaLaunch {
  static constexpr int kLanes = 1;

  CudaStream stream = nullptr;

  template <typename Work>
  void rows(std::int64_t count, const Work& work) const {
    const emulated::DeviceAtWork at_work;
    HostLaunch().rows(count, work);
  }
  template <typename Work>
  void blocks(std::int64_t count, const Work& work) const {
    rows(count, work);
  }
  template <typename Work>
  void grid(std::int64_t count, std::int64_t columns, int step, const Work& work) const {
    const emulated::DeviceAtWork at_work;
    HostLaunch().grid(count, columns, step, work);
  }
};

}  // namespace longhaul
