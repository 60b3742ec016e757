// The weights that micro-batches meet on their paths, and the way of their gradients back.
#include "trainer/cuda/launch.cuh"
#include "trainer/cuda/row_kernels.h"

namespace longhaul {

void gather_on_device(const GatherPart& work, std::int64_t replicas, std::int64_t columns,
                      CudaStream stream) {
  CudaLaunch{stream}.grid(replicas, columns, 1, work);
}

void scatter_on_device(const ScatterPart& work, std::int64_t replicas, std::int64_t columns,
                       CudaStream stream) {
  CudaLaunch{stream}.grid(replicas, columns, 1, work);
}

}  // namespace longhaul
