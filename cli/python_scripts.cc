#include "cli/python_scripts.h"

#include <filesystem>
#include <map>
#include <string_view>

#include "analysis/run_files.h"
#include "cli/child_process.h"
#include "core/base/files.h"

namespace longhaul {

const std::map<std::string, std::string_view>& python_scripts();  // by name, compiled in

namespace fs = std::filesystem;

void write_python_scripts(const std::string& folder) {
  for (const auto& [name, text] : python_scripts()) {
    fs::create_directories(fs::path(folder + "/" + name).parent_path());
    write_file(folder + "/" + name, std::string(text));
  }
}

std::pair<int, std::string> output_of(const std::vector<std::string>& command, const std::string& scratch,
                                      const std::string& folder) {
  const std::string log = scratch + "/log";
  fs::remove(log);
  const int status = wait_for(start_process(command, log, folder));
  return {status, read_file(log).value_or("")};
}

}  // namespace longhaul
