// Whether the tests of the GPU have one: the machine's, or the emulated one they are linked with.
#pragma once

#include "trainer/device/device.h"

namespace longhaul {

inline bool has_gpu() {
#ifdef LONGHAUL_EMULATED_GPU
  return true;
#else
  return choose_device("auto", "") == Device::kCuda;
#endif
}

}  // namespace longhaul
