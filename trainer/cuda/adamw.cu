// Clip factors and AdamW of all replicas: two passes, of which the first reads the gradient alone.
#include "trainer/cuda/launch.cuh"
#include "trainer/cuda/row_kernels.h"

namespace longhaul {
namespace {

template <int kColumns>
void square_sums(const AdamwTables& t, double* partial, const CudaLaunch& launch) {
  const std::int64_t slices = norm_slices(t.columns);
  launch.rows(t.replicas * slices, SquareSums<kColumns>{t.gradient, partial, t.columns, slices});
}

}  // namespace

void clip_factors_on_device(const AdamwTables& tables, double largest, double* partial, float* factors,
                            CudaStream stream) {
  const CudaLaunch launch{stream};
  rows_take_packs(tables.columns) ? square_sums<kPackedColumns>(tables, partial, launch)
                                  : square_sums<1>(tables, partial, launch);
  launch.blocks(tables.replicas, ClipFactors{partial, factors, norm_slices(tables.columns), largest});
}

void narrow_on_device(const AdamwTables& tables, CudaStream stream) {
  grid_of_packs<NarrowColumns>(CudaLaunch{stream}, tables.replicas, tables.columns, tables.weights,
                               tables.narrow, tables.columns);
}

void adamw_on_device(const AdamwTables& tables, const float* factors, const StepScalars* scalars,
                     const std::uint32_t* decaying, const std::uint32_t* left_out,
                     const AdamwConstants& constants, CudaStream stream) {
  grid_of_packs<AdamwColumns>(CudaLaunch{stream}, tables.replicas, tables.columns, tables.weights,
                              tables.gradient, tables.first_moment, tables.second_moment, factors, scalars,
                              decaying, left_out, constants, tables.columns, tables.narrow);
}

}  // namespace longhaul
