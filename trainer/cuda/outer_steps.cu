// The outer steps of the methods, and ddp's mean: one launch for all groups. The steps between ranks, and
// mean and spread of the replicas' weights. Compiled without fused multiply-adds: the bits are those of one
// process, and those of the host, updates/ and weight_spread.cc.
#include "trainer/cuda/launch.cuh"
#include "trainer/cuda/rank_rows.h"
#include "trainer/cuda/row_kernels.h"
#include "trainer/updates/diloco.h"
#include "trainer/updates/noloco.h"

namespace longhaul {

template <typename Step>
void outer_step_on_device(const OuterTables& tables, std::int64_t groups, const Step& step,
                          CudaStream stream) {
  const CudaLaunch launch{stream};
  if (rows_take_packs(tables.columns))
    launch.grid(groups, tables.columns, kPackedColumns, OuterColumns<kPackedColumns, Step>{tables, step});
  else
    launch.grid(groups, tables.columns, 1, OuterColumns<1, Step>{tables, step});
}

template void outer_step_on_device(const OuterTables&, std::int64_t, const DilocoStep&, CudaStream);
template void outer_step_on_device(const OuterTables&, std::int64_t, const NolocoStep&, CudaStream);

void pack_on_device(const float* rows, void* packed, Wire format, std::int64_t replicas, std::int64_t columns,
                    CudaStream stream) {
  grid_of_packs<PackColumns>(CudaLaunch{stream}, replicas, columns, rows, packed, format, columns);
}

void average_on_device(float* rows, const GroupTable& table, std::int64_t groups, Wire wire,
                       std::int64_t columns, CudaStream stream) {
  grid_of_packs<AverageColumns>(CudaLaunch{stream}, groups, columns, rows, table, wire, columns);
}

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
