// The outer steps of NoLoCo and DiLoCo, and ddp's mean: one launch for all groups. Compiled without fused
// multiply-adds: the bits are those of updates/, which take the step where a group is spread over processes.
#include "trainer/cuda/launch.cuh"
#include "trainer/cuda/row_kernels.h"

namespace longhaul {

void noloco_on_device(const OuterTables& tables, std::int64_t groups, float alpha, float beta, float gamma,
                      CudaStream stream) {
  const CudaLaunch launch{stream};
  if (rows_take_packs(tables.columns))
    launch.grid(groups, tables.columns, kPackedColumns,
                NolocoColumns<kPackedColumns>{tables, alpha, beta, gamma});
  else
    launch.grid(groups, tables.columns, 1, NolocoColumns<1>{tables, alpha, beta, gamma});
}

void diloco_on_device(const OuterTables& tables, std::int64_t groups, float lr, float momentum, bool nesterov,
                      CudaStream stream) {
  const CudaLaunch launch{stream};
  if (rows_take_packs(tables.columns))
    launch.grid(groups, tables.columns, kPackedColumns,
                DilocoColumns<kPackedColumns>{tables, lr, momentum, nesterov});
  else
    launch.grid(groups, tables.columns, 1, DilocoColumns<1>{tables, lr, momentum, nesterov});
}

void average_on_device(float* rows, const GroupTable& table, std::int64_t groups, Rounding rounding,
                       std::int64_t columns, CudaStream stream) {
  const CudaLaunch launch{stream};
  if (rows_take_packs(columns))
    launch.grid(groups, columns, kPackedColumns,
                AverageColumns<kPackedColumns>{rows, table, rounding, columns});
  else
    launch.grid(groups, columns, 1, AverageColumns<1>{rows, table, rounding, columns});
}

}  // namespace longhaul
