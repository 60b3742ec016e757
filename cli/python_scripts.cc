#include "cli/python_scripts.h"

#include <filesystem>
#include <map>
#include <sstream>
#include <string_view>

#include "analysis/run_files.h"
#include "cli/child_process.h"
#include "cli/scratch_folder.h"
#include "core/base/child_main.h"
#include "core/base/errors.h"
#include "core/base/files.h"
#include "planner/plan_request.h"
#include "planner/planned_network.h"

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

Json measured_sites(const PlanRequest& plan, std::vector<std::string>& warnings) {
  for (const std::string& file : plan.measurements)
    if (!fs::exists(file) && file.find_first_of("*?[") == std::string::npos)
      throw InputError(
          "measurements", "there is no file " + file,
          "what iperf3 --json, nccl-tests or ping printed, a table (.csv), or a folder or a glob "
          "of such files (\"iperf/*.json\"), relative to the plan's folder");
  const std::string interpreter = program_on_path("python3");
  if (interpreter.empty())
    throw InputError("measurements", "python3 was not found, which reads them",
                     "a python3 on the search path", "Debian: apt-get install python3");
  const ScratchFolder scratch("measured");
  const std::string matrix = scratch.path + "/matrix.json", error = "error: ", warning = "warning: ";
  fs::create_directory(scratch.path + "/longhaul");
  write_python_scripts(scratch.path + "/longhaul");
  std::vector<std::string> command = {interpreter, "-m", "longhaul.measured", "-o", matrix};
  const std::vector<std::string> arguments = measured_arguments(plan);
  command.insert(command.end(), arguments.begin(), arguments.end());
  const auto [status, said] = output_of(command, scratch.path, scratch.path);
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(error, 0) == 0) throw InputError("measurements", line.substr(error.size()), "");
    if (line.rfind(warning, 0) == 0) warnings.push_back(line.substr(warning.size()));
  }
  if (status != kDone) throw RunError(interpreter + ": " + said);
  return parse_json(read_file(matrix).value_or(""));
}

}  // namespace longhaul
