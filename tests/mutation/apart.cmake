# Included by CMake behind project() (CMAKE_PROJECT_INCLUDE). The build is the release build, whose objects ccache may have. But
# the libraries of LONGHAUL_MUTATED are compiled source by source and with -O1: a mutant compiles one of them.
function(compile_apart)
  foreach(target IN LISTS LONGHAUL_MUTATED)
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
      target_compile_options(${target} PRIVATE -O1)
    endif()
  endforeach()
endfunction()
cmake_language(DEFER CALL compile_apart)
