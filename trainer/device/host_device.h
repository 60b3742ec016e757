// Arithmetic that a GPU and the host share is written once, in functions marked with this; without nvcc it is
// plain C++, which is how the tests reach it.
#pragma once

// For columns in loops that are compiled for several vector units.
#define LONGHAUL_ALWAYS_INLINE inline __attribute__((always_inline))

#if defined(__CUDACC__)
#define LONGHAUL_HOST_DEVICE __host__ __device__
#define LONGHAUL_UNROLL _Pragma("unroll")
#else
#define LONGHAUL_HOST_DEVICE
#define LONGHAUL_UNROLL
#endif
