# Which of the three executables can be built here, and a clear line about each.
#
# LONGHAUL_TRAINER, LONGHAUL_SIM, LONGHAUL_CUDA: AUTO builds what is found, ON insists, OFF leaves it out.
# Sets LONGHAUL_BUILD_TRAINER, LONGHAUL_BUILD_SIM, LONGHAUL_BUILD_CUDA.

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

if(NOT LONGHAUL_TRAINER STREQUAL "OFF")
  find_package(Torch QUIET)
endif()
if(Torch_FOUND)
  set(torch_is_there TRUE)
else()
  set(torch_is_there FALSE)
endif()
longhaul_decide(TRAINER ${torch_is_there} "LibTorch was not found (Debian: libtorch-dev libopenblas0-pthread)")

if(NOT LONGHAUL_SIM STREQUAL "OFF")
  find_package(ns3 QUIET)
endif()
if(TARGET ns3::libinternet)
  set(ns3_is_there TRUE)
else()
  set(ns3_is_there FALSE)
endif()
longhaul_decide(SIM ${ns3_is_there} "ns-3 was not found (Debian: libns3-dev ns3 libgsl-dev libxml2-dev libsqlite3-dev libpython3-dev)")

# CUDA is used where LibTorch itself was built with it; the CPU packages of Debian are not.
set(cuda_is_there FALSE)
if(TARGET torch_cuda)
  set(cuda_is_there TRUE)
endif()
longhaul_decide(CUDA ${cuda_is_there} "LibTorch has no CUDA here; the replicas run on the CPU")
