# nvcc, if there is one, as CMake's language CUDA, and what a LibTorch with CUDA 13 expects to find. CMAKE_CUDA_ARCHITECTURES
# is what the kernels are compiled for; without a choice compute capability 8.0 and 9.0, the former as PTX too, which any
# newer card takes.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80 90-real)
endif()
include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)  # the one that LibTorch has loaded
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  if(CCACHE_PROGRAM)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit QUIET)
  # Gone from CUDA 13; LibTorch 2.11 still names it.
  if(NOT TARGET CUDA::nvToolsExt AND TARGET CUDA::nvtx3)
    add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
    target_link_libraries(CUDA::nvToolsExt INTERFACE CUDA::nvtx3)
  endif()
else()
  message(STATUS "Longhaul: nvcc was not found: the CUDA kernels are not compiled")
endif()
