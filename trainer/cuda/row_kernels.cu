// Of all replicas: clip factors and AdamW, two passes of which the first reads the gradient alone; Muon, less
// its products: what stands before and behind the orthogonalization of a matrix; the weights that
// micro-batches meet on their paths, and the way of their gradients back.
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

void muon_look_ahead_on_device(const AdamwTables& tables, const MuonMatrix& matrix, float momentum,
                               const float* factors, float* work, double* partial, float* inverse,
                               CudaStream stream) {
  const CudaLaunch launch{stream};
  const std::int64_t size = matrix.size(), slices = norm_slices(size);
  launch.grid(tables.replicas, size, 1,
              MuonLookAhead{tables.gradient + matrix.offset, tables.first_moment + matrix.offset, factors,
                            momentum, work, tables.columns, size});
  launch.rows(tables.replicas * slices, SquareSums<1>{work, partial, size, slices});
  launch.blocks(tables.replicas, InverseNorms{partial, inverse, slices});
  launch.grid(tables.replicas, size, 1, ScaleRows{work, inverse, size});
}

void muon_update_on_device(const AdamwTables& tables, const MuonMatrix& matrix, const float* work,
                           const MuonScalars* scalars, CudaStream stream) {
  const CudaLaunch launch{stream};
  launch.grid(tables.replicas, matrix.size(), 1,
              MuonColumns{tables.weights + matrix.offset, work, scalars, matrix.scale, tables.columns,
                          matrix.size(), tables.narrow ? tables.narrow + matrix.offset : nullptr});
}

template <typename Work>
void along_paths_on_device(const Work& work, std::int64_t replicas, std::int64_t columns, CudaStream stream) {
  CudaLaunch{stream}.grid(replicas, columns, 1, work);
}

template void along_paths_on_device(const ClearRows&, std::int64_t, std::int64_t, CudaStream);
template void along_paths_on_device(const GatherPlace&, std::int64_t, std::int64_t, CudaStream);
template void along_paths_on_device(const ScatterPlace&, std::int64_t, std::int64_t, CudaStream);

}  // namespace longhaul
