// Compiles where LibTorch's CUDA classes, as its headers declare them, go with the CUDA headers that are
// here: the trial of tests/gpu/CMakeLists.txt.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
