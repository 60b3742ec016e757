# longhaul_unity(target [APART file...])
#
# With LONGHAUL_UNITY the sources of a library are compiled eight at a time as one, because most of the work on a small
# source is its headers' (CONTRIBUTING.md has the figures). Names in anonymous namespaces must then differ between the
# sources of a library. The files after APART, and all that have compiler options of their own, stay by themselves.
function(longhaul_unity target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "APART")
  if(LONGHAUL_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    set_source_files_properties(${arg_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()
