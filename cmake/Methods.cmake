# The table of the methods that a program knows. A method is methods/NAME.cc, which defines NAME_method(), and
# trainer/updates/NAME.cc, which defines make_NAME_update(); CMake lists the files and writes the two tables. One without
# the other does not configure, but for methods whose step is another one's.

# METHOD:OTHER, whose update is the other's: they differ in their plans alone.
set(longhaul_same_steps epidemic:local_sgd fsdp:ddp gossip:local_sgd hierarchical:local_sgd moshpit:local_sgd muloco:diloco
    single:independent)

# `out`: the names for which the folder `folder` has a file.
function(longhaul_methods_in folder out)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.cc)
  set(names)
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    list(APPEND names ${name})
  endforeach()
  list(SORT names)
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# Writes `file` with all_of(): `type` by name, from functions `prefix``name``suffix`.
function(longhaul_method_table kind file)
  set(declarations)
  set(entries)
  foreach(name ${ARGN})
    string(REPLACE "_" "-" word ${name})
    if(kind STREQUAL "plans")
      string(APPEND declarations "Method ${name}_method();\n")
      string(APPEND entries "${name}_method(), ")
    else()
      set(update ${name})
      foreach(same ${longhaul_same_steps})
        if(same MATCHES "^${name}:(.*)$")
          set(update ${CMAKE_MATCH_1})
        endif()
      endforeach()
      string(APPEND declarations "std::unique_ptr<Update> make_${update}_update(const Json& options);\n")
      string(APPEND entries "{\"${word}\", make_${update}_update}, ")
    endif()
  endforeach()
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/method_${kind}.cc.in ${file} @ONLY)
endfunction()

# All must have both halves.
function(longhaul_check_methods plans updates)
  foreach(same ${longhaul_same_steps})
    string(REGEX REPLACE ":.*" "" name ${same})
    list(APPEND updates ${name})
  endforeach()
  list(SORT updates)
  if(NOT "${plans}" STREQUAL "${updates}")
    message(FATAL_ERROR "Longhaul: each method needs a plan and an update.\n"
            "  methods/NAME.cc:          ${plans}\n  trainer/updates/NAME.cc:  ${updates}")
  endif()
endfunction()
