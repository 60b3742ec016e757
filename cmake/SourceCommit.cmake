# The commit of the source in one small generated file: core/base/source_commit.h.
#
# Looked up at every build, which takes milliseconds; the file is written, and so compiled, only when the commit is another
# one. Nothing else depends on it, so that a commit costs one compilation and the links.
set(source_commit_file ${CMAKE_BINARY_DIR}/source_commit.cc)
find_package(Git QUIET)
add_custom_target(longhaul_source_commit_file BYPRODUCTS ${source_commit_file}
  COMMAND ${CMAKE_COMMAND} "-DGIT=${GIT_EXECUTABLE}" "-DSOURCE=${CMAKE_SOURCE_DIR}" "-DFILE=${source_commit_file}"
          -P "${CMAKE_CURRENT_LIST_DIR}/SourceCommitScript.cmake"
  COMMENT "" VERBATIM)
add_library(longhaul_source_commit STATIC ${source_commit_file})
add_dependencies(longhaul_source_commit longhaul_source_commit_file)
target_link_libraries(longhaul_source_commit PUBLIC longhaul_common)
