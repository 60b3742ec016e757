# The table of the communication libraries that a program knows: net/libraries/NAME.cc defines NAME_library().

# Writes `file` with libraries(), plain first and the others by name.
function(longhaul_library_table file)
  set(declarations)
  set(entries)
  set(names ${ARGN})
  list(SORT names)
  list(REMOVE_ITEM names plain)
  foreach(name plain ${names})
    string(APPEND declarations "Library ${name}_library();\n")
    string(APPEND entries "${name}_library(), ")
  endforeach()
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/libraries.cc.in ${file} @ONLY)
endfunction()
