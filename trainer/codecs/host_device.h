// Arithmetic that a GPU and the host share is written once, in functions marked with this; without nvcc it is
// plain C++, which is how the tests reach it.
#pragma once

#if defined(__CUDACC__)
#define LONGHAUL_HOST_DEVICE __host__ __device__
#define LONGHAUL_UNROLL _Pragma("unroll")
#else
#define LONGHAUL_HOST_DEVICE
#define LONGHAUL_UNROLL
#endif
