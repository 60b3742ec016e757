// The one thing that the kernels ask of LibTorch.
#include <c10/cuda/CUDAStream.h>

#include "trainer/device/cuda_device.h"

namespace longhaul {

CudaStream current_cuda_stream() {
  return c10::cuda::getCurrentCUDAStream().stream();
}

}  // namespace longhaul
