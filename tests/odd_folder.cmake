# cmake -DSOURCE=TREE -DFOLDER=EMPTY -P odd_folder.cmake: what the build makes with commands of the shell, made once
# more below a folder whose name the shell would take apart.
cmake_minimum_required(VERSION 3.25)
set(odd "${FOLDER}/a (b) it's")
file(REMOVE_RECURSE "${FOLDER}")
foreach(file core/base/source_commit.h cmake/SourceCommit.cmake cmake/SourceCommitScript.cmake cmake/Embed.cmake cmake/EmbedScript.cmake)
  configure_file("${SOURCE}/${file}" "${odd}/${file}" COPYONLY)
endforeach()
file(WRITE "${odd}/text.html" "<b>text</b>\n")
file(WRITE "${odd}/odd.cc" "#include <map>
#include <string>
#include <string_view>
#include \"core/base/source_commit.h\"
namespace longhaul {
const std::map<std::string, std::string_view>& texts();
}
int main() {
  return longhaul::texts().at(\"text.html\") == \"<b>text</b>\\n\" && *longhaul::source_commit() ? 0 : 1;
}
")
file(WRITE "${odd}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(odd CXX)
set(CMAKE_CXX_STANDARD 17)
add_library(longhaul_common INTERFACE)
target_include_directories(longhaul_common INTERFACE \${CMAKE_SOURCE_DIR})
include(cmake/SourceCommit.cmake)
include(cmake/Embed.cmake)
add_executable(odd odd.cc)
longhaul_embed(TARGET odd FUNCTION texts FILES text.html)
target_link_libraries(odd PRIVATE longhaul_source_commit)
")
foreach(arguments "-S;${odd};-B;${odd}/build" "--build;${odd}/build")
  execute_process(COMMAND ${CMAKE_COMMAND} ${arguments} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND "${odd}/build/odd" COMMAND_ERROR_IS_FATAL ANY)
