# cmake --install BUILD --prefix PREFIX (make install PREFIX=...): the programs that were built, side by side in bin/, where
# longhaul looks for the others; the scenarios with their schema, where it looks for those; and what it writes about
# itself: the man page and the completions of three shells.
include(GNUInstallDirs)
set(documents ${CMAKE_BINARY_DIR}/documents)
set(targets longhaul)
foreach(target longhaul-sim longhaul-train)
  if(TARGET ${target})
    list(APPEND targets ${target})
  endif()
endforeach()
# A LibTorch that is not the system's is found where it was when linking.
set_target_properties(${targets} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS ${targets} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/longhaul
        FILES_MATCHING PATTERN "*.json" PATTERN "*.graphml" PATTERN "*.csv" PATTERN "*.md")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(CODE "
  file(MAKE_DIRECTORY \"${documents}\")
  foreach(document \"man>longhaul.1\" \"completion bash>longhaul.bash\" \"completion zsh>_longhaul\" \"completion fish>longhaul.fish\")
    string(REPLACE \">\" \";\" document \"\${document}\")
    list(GET document 0 arguments)
    list(GET document 1 file)
    separate_arguments(arguments)
    execute_process(COMMAND \"$<TARGET_FILE:longhaul>\" \${arguments} OUTPUT_FILE \"${documents}/\${file}\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()")
install(FILES ${documents}/longhaul.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${documents}/longhaul.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME longhaul)
install(FILES ${documents}/_longhaul DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${documents}/longhaul.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
