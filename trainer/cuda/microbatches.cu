// The weights that micro-batches meet on their paths, and the way of their gradients back.
#include "trainer/cuda/launch.cuh"
#include "trainer/cuda/row_kernels.h"

namespace longhaul {

void gather_on_device(const GatherPlace& work, std::int64_t replicas, std::int64_t columns,
                      CudaStream stream) {
  CudaLaunch{stream}.grid(replicas, columns, 1, work);
}

void scatter_on_device(const ScatterPlace& work, std::int64_t replicas, std::int64_t columns,
                       CudaStream stream) {
  CudaLaunch{stream}.grid(replicas, columns, 1, work);
}

void clear_on_device(const ClearRows& work, std::int64_t replicas, CudaStream stream) {
  CudaLaunch{stream}.grid(replicas, work.columns, 1, work);
}

}  // namespace longhaul
