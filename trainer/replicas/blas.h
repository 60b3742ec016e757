// The libraries below LibTorch that multiply matrices: oneDNN and the BLAS. Replicas already fill the
// processor with a task each, so the libraries' own threads only fight with them (measured: three times
// slower), and they are switched off.
#pragma once

#include <cstdint>
#include <string>

namespace longhaul {

// Process-wide, of the BLAS; does nothing where it is not OpenBLAS. oneDNN takes OpenMP's threads, whose
// number each thread sets for itself: use_one_torch_thread() of device.h.
void use_one_blas_thread();

// oneDNN's product of row-major matrices, c = alpha · a [m, k] · b [k, n] + beta · c; 'T' reads a matrix the
// other way round, and rows are `stride` apart. Null where LibTorch brings no oneDNN that can be called by
// name, on processors that are no x86-64, and where the environment says LONGHAUL_PRODUCTS=blas. Throws
// InputError where that variable is neither "onednn" nor "blas".
using RowMajorProduct = int(char transpose_a, char transpose_b, std::int64_t m, std::int64_t n,
                            std::int64_t k, float alpha, const float* a, std::int64_t stride_a,
                            const float* b, std::int64_t stride_b, float beta, float* c,
                            std::int64_t stride_c);
RowMajorProduct* onednn_product();

// What multiplies, and for which processor, since both decide the bits: "oneDNN 2.6.3 (instruction set 0xe7),
// OpenBLAS 0.3.21 …"; "unknown" where neither can be asked.
std::string blas_name();

}  // namespace longhaul
