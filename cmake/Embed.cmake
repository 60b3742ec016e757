# longhaul_embed(TARGET target FUNCTION name [BASE folder] FILES file...)
#
# Compiles files into a library, so that an executable needs no data folder. Defines
#   namespace longhaul { const std::map<std::string, std::string_view>& name(); }   // by file name without folder, or from BASE
# which the caller declares in a header of its own. The files are read again when they change.
set(LONGHAUL_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/EmbedScript.cmake)

function(longhaul_embed)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;FUNCTION;BASE" "FILES")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded/${arg_FUNCTION}.cc)  # apart from a source of that name
  set(files)
  set(base)
  if(arg_BASE)
    get_filename_component(base ${arg_BASE} ABSOLUTE)
  endif()
  foreach(file IN LISTS arg_FILES)
    get_filename_component(absolute ${file} ABSOLUTE)  # relative to the caller's folder
    list(APPEND files ${absolute})
  endforeach()
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFUNCTION=${arg_FUNCTION} "-DFILES=${files}" "-DBASE=${base}" -P ${LONGHAUL_EMBED_SCRIPT}
    DEPENDS ${files} ${LONGHAUL_EMBED_SCRIPT}
    VERBATIM)
  target_sources(${arg_TARGET} PRIVATE ${output})
endfunction()
