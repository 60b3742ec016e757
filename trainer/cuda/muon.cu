// Muon of all replicas, less its products: what stands before and behind the orthogonalization of a matrix.
#include "trainer/cuda/launch.cuh"
#include "trainer/cuda/muon_rows.h"
#include "trainer/cuda/row_kernels.h"

namespace longhaul {

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

}  // namespace longhaul
