# Which of the three executables can be built here, and a clear line about each.
#
# LONGHAUL_TRAINER, LONGHAUL_SIM, LONGHAUL_CUDA, LONGHAUL_MPI: AUTO builds what is found, ON insists, OFF leaves it out.
# Sets LONGHAUL_BUILD_TRAINER, LONGHAUL_BUILD_SIM, LONGHAUL_BUILD_CUDA, LONGHAUL_BUILD_MPI.

set(LONGHAUL_TORCH "" CACHE PATH "A LibTorch, or a Python environment with PyTorch (scripts/setup.sh --cuda makes torch-cuda); else what CMake finds")

macro(longhaul_find_torch)
  if(LONGHAUL_TORCH)
    file(GLOB longhaul_torch_config "${LONGHAUL_TORCH}/share/cmake/Torch" "${LONGHAUL_TORCH}/lib/python3*/site-packages/torch/share/cmake/Torch")
    if(NOT longhaul_torch_config)
      message(FATAL_ERROR "Longhaul: there is no LibTorch in LONGHAUL_TORCH=${LONGHAUL_TORCH} (scripts/setup.sh --cuda installs one into torch-cuda)")
    endif()
    list(GET longhaul_torch_config 0 longhaul_torch_config)
    set(Torch_DIR "${longhaul_torch_config}" CACHE PATH "" FORCE)
    # Torch's files look for their own parts in the system's folders first: beside Debian's LibTorch they would take that one's.
    get_filename_component(longhaul_torch_prefix "${Torch_DIR}/../../.." ABSOLUTE)
    set(Caffe2_DIR "${longhaul_torch_prefix}/share/cmake/Caffe2" CACHE PATH "" FORCE)
    foreach(longhaul_library torch c10 c10_cuda kineto)
      string(TOUPPER "${longhaul_library}" longhaul_name)
      foreach(longhaul_name ${longhaul_name}_LIBRARY ${longhaul_library}_LIBRARY)
        set(${longhaul_name} "${longhaul_torch_prefix}/lib/lib${longhaul_library}.so" CACHE FILEPATH "" FORCE)
        if(NOT EXISTS "${${longhaul_name}}")
          set(${longhaul_name} "${longhaul_name}-NOTFOUND" CACHE FILEPATH "" FORCE)
        endif()
      endforeach()
    endforeach()
  endif()
  # For which cards LibTorch's own part of the build is; without a choice it would ask the machine's card.
  if(NOT DEFINED TORCH_CUDA_ARCH_LIST AND NOT DEFINED ENV{TORCH_CUDA_ARCH_LIST})
    string(REGEX REPLACE "([0-9]+)([0-9])[^;]*" "\\1.\\2" TORCH_CUDA_ARCH_LIST "${CMAKE_CUDA_ARCHITECTURES}")
  endif()
  # Torch's files overwrite both.
  set(longhaul_cuda_architectures ${CMAKE_CUDA_ARCHITECTURES})
  set(longhaul_cuda_flags ${CMAKE_CUDA_FLAGS})
  find_package(Torch QUIET)
  set(CMAKE_CUDA_ARCHITECTURES ${longhaul_cuda_architectures})
  set(CMAKE_CUDA_FLAGS ${longhaul_cuda_flags})
  if(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
    message(FATAL_ERROR "Longhaul: this LibTorch has the old ABI of std::string; a newer one, or the libtorch of the C++11 ABI, is needed")
  endif()
  list(FILTER TORCH_LIBRARIES EXCLUDE REGEX "NOTFOUND")  # a toolkit without nvrtc, which is not called
  # Newer headers refuse C++17, those of 1.13 do not know C++20.
  if(Torch_VERSION VERSION_GREATER_EQUAL 2.12)
    set(CMAKE_CXX_STANDARD 20)
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
# Its libraries are called ns3::libNAME up to 3.37, ns3::NAME since; its headers need C++20 since 3.41.
set(ns3_is_there FALSE)
foreach(prefix lib "")
  if(TARGET ns3::${prefix}internet)
    set(ns3_is_there TRUE)
    set(LONGHAUL_NS3 ns3::${prefix}core ns3::${prefix}network ns3::${prefix}internet ns3::${prefix}point-to-point ns3::${prefix}traffic-control)
  endif()
endforeach()
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
if(LONGHAUL_BUILD_CUDA)
  # The CUDA libraries that this PyTorch was built with, before those of a toolkit beside it.
  file(GLOB longhaul_cuda_libraries "${TORCH_INSTALL_PREFIX}/../nvidia/*/lib")
  list(PREPEND CMAKE_BUILD_RPATH ${longhaul_cuda_libraries})
endif()

# The trainer in several processes.
set(mpi_is_there FALSE)
if(LONGHAUL_BUILD_TRAINER AND NOT LONGHAUL_MPI STREQUAL "OFF")
  set(MPI_CXX_SKIP_MPICXX TRUE)  # the C interface is enough
  find_package(MPI QUIET COMPONENTS CXX)
  if(MPI_CXX_FOUND)
    set(mpi_is_there TRUE)
  endif()
endif()
longhaul_decide(MPI ${mpi_is_there} "MPI was not found (Debian: libopenmpi-dev openmpi-bin); a training is one process")
