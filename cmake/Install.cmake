# cmake --install BUILD --prefix PREFIX (make install PREFIX=...): the programs that were built, side by side in bin/, where
# longhaul looks for the others; the scenarios with their schema, where it looks for those; the Python package where Debian's
# python3 finds it below /usr; and completion for bash. `make deb` packs the same tree, `make wheel` another build of it.
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
if(TARGET longhaul_torch_module)
  set_target_properties(longhaul_torch_module PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS longhaul_torch_module LIBRARY DESTINATION lib/longhaul)
endif()
install(DIRECTORY scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/longhaul
        FILES_MATCHING PATTERN "*.json" PATTERN "*.jsonc" PATTERN "*.graphml" PATTERN "*.csv" PATTERN "*.md")
install(FILES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/longhaul-planner.html DESTINATION ${CMAKE_INSTALL_DATADIR}/longhaul OPTIONAL)  # make planner-page
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES scripts/longhaul.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME longhaul)
install(DIRECTORY python/longhaul DESTINATION lib/python3/dist-packages FILES_MATCHING PATTERN "*.py" PATTERN "py.typed")

# `cpack`: a package for the Debian that built it. What dpkg-shlibdeps cannot see: LibTorch takes any BLAS, and the reference one is
# thirty times slower; MPI starts ranks by its launcher; the corpus system-headers is the compiler's headers.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # it would build the tests first
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "The Longhaul developers <longhaul@invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "low-communication training replayed on a model of a wide-area network")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(LONGHAUL_BUILD_TRAINER)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS libopenblas0-pthread)
endif()
string(REGEX MATCH "^[0-9]+" longhaul_gcc "${CMAKE_CXX_COMPILER_VERSION}")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3, python3-matplotlib, openmpi-bin, libstdc++-${longhaul_gcc}-dev")
include(CPack)
