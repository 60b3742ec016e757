// The one thing that the kernels ask of LibTorch.
#include <c10/cuda/CUDAStream.h>

#include "trainer/cuda/device.h"

namespace longhaul {

CudaStream current_cuda_stream() {
  return c10::cuda::getCurrentCUDAStream().stream();
}

}  // namespace longhaul
