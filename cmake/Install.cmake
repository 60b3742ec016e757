# cmake --install BUILD --prefix PREFIX (make install PREFIX=...): the programs that were built, side by side in bin/, where
# longhaul looks for the others; the scenarios with their schema, where it looks for those; and completion for bash.
include(GNUInstallDirs)
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
        FILES_MATCHING PATTERN "*.json" PATTERN "*.jsonc" PATTERN "*.graphml" PATTERN "*.csv" PATTERN "*.md")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES scripts/longhaul.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME longhaul)
