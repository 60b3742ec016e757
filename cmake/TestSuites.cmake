# longhaul_discover_tests(program [TIMEOUT seconds] [BY_PARAMETER suite...] [LONG suite...] [ALONE] [TOGETHER])
#
# A test of ctest, PROGRAM.SUITE, for each suite of a GoogleTest program: a process a test would load LibTorch hundreds of times, 0.4 s each.
# The suites after BY_PARAMETER are a test for each of their parameters instead. Those after LONG take more than ten seconds
# and are started first. ALONE: while no other test runs. TOGETHER: the suites after neither are one test, PROGRAM.others; to start
# a program with LibTorch takes longer than most of its suites. A test counts as skipped only if each of its parts was skipped and
# nothing failed, SetUpTestSuite() included.
set(LONGHAUL_SUITES_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/TestSuitesScript.cmake)

function(longhaul_discover_tests program)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALONE;TOGETHER" "TIMEOUT" "BY_PARAMETER;LONG")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  set(tests ${CMAKE_CURRENT_BINARY_DIR}/${program}_suites.cmake)
  add_custom_command(
    TARGET ${program} POST_BUILD BYPRODUCTS ${tests}
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${program}> -DTESTS=${tests} -DNAME=${program} -DTIMEOUT=${arg_TIMEOUT}
            "-DBY_PARAMETER=${arg_BY_PARAMETER}" "-DLONG=${arg_LONG}" -DALONE=${arg_ALONE} -DTOGETHER=${arg_TOGETHER} -P ${LONGHAUL_SUITES_SCRIPT}
    VERBATIM)
  set(include ${CMAKE_CURRENT_BINARY_DIR}/${program}_include.cmake)
  file(WRITE ${include} "if(EXISTS \"${tests}\")\n  include(\"${tests}\")\nelse()\n  add_test(${program}_NOT_BUILT ${program}_NOT_BUILT)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
endfunction()
