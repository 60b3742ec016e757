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

template <int kColumns>
void adamw(const AdamwTables& t, const float* factors, const StepScalars* scalars,
           const std::uint32_t* decaying, const std::uint32_t* left_out, const AdamwConstants& constants,
           const CudaLaunch& launch) {
  launch.grid(t.replicas, t.columns, kColumns,
              AdamwColumns<kColumns>{t.weights, t.gradient, t.first_moment, t.second_moment, factors, scalars,
                                     decaying, left_out, constants, t.columns, t.narrow});
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
  const CudaLaunch launch{stream};
  const std::int64_t columns = tables.columns;
  if (rows_take_packs(columns))
    launch.grid(tables.replicas, columns, kPackedColumns,
                NarrowColumns<kPackedColumns>{tables.weights, tables.narrow, columns});
  else
    launch.grid(tables.replicas, columns, 1, NarrowColumns<1>{tables.weights, tables.narrow, columns});
}

void adamw_on_device(const AdamwTables& tables, const float* factors, const StepScalars* scalars,
                     const std::uint32_t* decaying, const std::uint32_t* left_out,
                     const AdamwConstants& constants, CudaStream stream) {
  const CudaLaunch launch{stream};
  rows_take_packs(tables.columns)
      ? adamw<kPackedColumns>(tables, factors, scalars, decaying, left_out, constants, launch)
      : adamw<1>(tables, factors, scalars, decaying, left_out, constants, launch);
}

}  // namespace longhaul
