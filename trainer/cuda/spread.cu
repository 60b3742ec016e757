// Mean and spread of the replicas' weights. Compiled without fused multiply-adds: the bits are those of
// ranks/spread.cc, which several ranks use.
#include "trainer/cuda/launch.cuh"
#include "trainer/cuda/row_kernels.h"

namespace longhaul {

void find_differences_on_device(const FindDifferences& work, CudaStream stream) {
  CudaLaunch{stream}.grid(1, work.columns, 1, work);
}

void center_on_device(const CenterColumns& work, std::int64_t count, CudaStream stream) {
  CudaLaunch{stream}.grid(1, count, 1, work);
}

void sum_blocks_on_device(const SumBlocks& work, CudaStream stream) {
  CudaLaunch{stream}.grid(1, (work.count + work.block - 1) / work.block, 1, work);
}

}  // namespace longhaul
