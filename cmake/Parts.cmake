# Which of the three executables can be built here, and a clear line about each.
#
# LONGHAUL_TRAINER, LONGHAUL_SIM, LONGHAUL_CUDA: AUTO builds what is found, ON insists, OFF leaves it out.
# Sets LONGHAUL_BUILD_TRAINER, LONGHAUL_BUILD_SIM, LONGHAUL_BUILD_CUDA.

macro(longhaul_find_torch)
  # Torch's files overwrite both.
  set(longhaul_cuda_architectures ${CMAKE_CUDA_ARCHITECTURES})
  set(longhaul_cuda_flags ${CMAKE_CUDA_FLAGS})
  find_package(Torch QUIET)
  set(CMAKE_CUDA_ARCHITECTURES ${longhaul_cuda_architectures})
  set(CMAKE_CUDA_FLAGS ${longhaul_cuda_flags})
  if(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
    message(FATAL_ERROR "Longhaul: this LibTorch has the old ABI of std::string; a newer one, or the libtorch of the C++11 ABI, is needed")
  endif()
endmacro()

function(longhaul_decide part found missing_hint)
  if(LONGHAUL_${part} STREQUAL "OFF")
    set(LONGHAUL_BUILD_${part} OFF PARENT_SCOPE)
    message(STATUS "Longhaul: ${part} left out (LONGHAUL_${part}=OFF)")
  elseif(found)
    set(LONGHAUL_BUILD_${part} ON PARENT_SCOPE)
    message(STATUS "Longhaul: ${part} is built")
  elseif(LONGHAUL_${part} STREQUAL "ON")
    message(FATAL_ERROR "Longhaul: ${part} was asked for, but ${missing_hint}")
  else()
    set(LONGHAUL_BUILD_${part} OFF PARENT_SCOPE)
    message(STATUS "Longhaul: ${part} is not built: ${missing_hint}")
  endif()
endfunction()

# nvcc first: a LibTorch with CUDA asks for it, and the kernels are compiled wherever there is one, so that it is
# noticed when they stop to.
if(NOT LONGHAUL_CUDA STREQUAL "OFF" AND NOT LONGHAUL_TRAINER STREQUAL "OFF")
  include(${CMAKE_CURRENT_LIST_DIR}/Cuda.cmake)
endif()
if(NOT LONGHAUL_TRAINER STREQUAL "OFF")
  longhaul_find_torch()
endif()
if(Torch_FOUND)
  set(torch_is_there TRUE)
else()
  set(torch_is_there FALSE)
endif()
longhaul_decide(TRAINER ${torch_is_there} "LibTorch was not found (Debian: libtorch-dev libdnnl-dev libopenblas-pthread-dev)")

if(NOT LONGHAUL_SIM STREQUAL "OFF")
  find_package(ns3 QUIET)
endif()
if(TARGET ns3::libinternet)
  set(ns3_is_there TRUE)
else()
  set(ns3_is_there FALSE)
endif()
longhaul_decide(SIM ${ns3_is_there} "ns-3 was not found (Debian: libns3-dev ns3 libgsl-dev libxml2-dev libsqlite3-dev libpython3-dev)")

# CUDA is used where LibTorch itself was built with it (the CPU packages of Debian are not) and nvcc is there.
set(cuda_is_there FALSE)
set(why_not_cuda "LibTorch has no CUDA here; the replicas run on the CPU")
if(CMAKE_CUDA_COMPILER AND TARGET torch_cuda)
  set(cuda_is_there TRUE)
elseif(TARGET torch_cuda)
  set(why_not_cuda "nvcc was not found; the replicas run on the CPU")
elseif(CMAKE_CUDA_COMPILER)
  string(APPEND why_not_cuda " (the kernels are compiled all the same, by nvcc ${CMAKE_CUDA_COMPILER_VERSION})")
endif()
longhaul_decide(CUDA ${cuda_is_there} "${why_not_cuda}")
