// The steps between ranks, and mean and spread of the replicas' weights. Compiled without fused
// multiply-adds: the bits are those of one process, and those of the host (weight_spread.cc).
#include "trainer/cuda/launch.cuh"
#include "trainer/cuda/rank_rows.h"
#include "trainer/cuda/row_kernels.h"
#include "trainer/updates/diloco.h"
#include "trainer/updates/noloco.h"

namespace longhaul {

template <typename Work>
void over_columns_on_device(const Work& work, std::int64_t columns, CudaStream stream) {
  CudaLaunch{stream}.grid(1, columns, 1, work);
}

template void over_columns_on_device(const AddRows&, std::int64_t, CudaStream);
template void over_columns_on_device(const PackRow&, std::int64_t, CudaStream);
template void over_columns_on_device(const MeanOfPacked&, std::int64_t, CudaStream);
template void over_columns_on_device(const TakeMean&, std::int64_t, CudaStream);
template void over_columns_on_device(const StepWithMeans<DilocoStep>&, std::int64_t, CudaStream);
template void over_columns_on_device(const StepWithMeans<NolocoStep>&, std::int64_t, CudaStream);
template void over_columns_on_device(const FindDifferences&, std::int64_t, CudaStream);
template void over_columns_on_device(const CenterColumns&, std::int64_t, CudaStream);
template void over_columns_on_device(const SumBlocks&, std::int64_t, CudaStream);

}  // namespace longhaul
