// Runs the built executables as a user does and keeps what they said.
#pragma once

#include <sys/types.h>

#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "tests/support/files.h"

namespace longhaul {

struct CommandResult {
  int status = 0;  // exit status; 128 + signal
  std::string out, err;
};

// `program` is an executable of the build ("longhaul"); arguments are passed as they are, no shell.
CommandResult run_command_line(const std::string& program, const std::vector<std::string>& arguments);
CommandResult longhaul(std::vector<std::string> arguments, const std::vector<std::string>& more = {});

// A line of the shell, in which $B is the folder of the programs.
CommandResult shell(const std::string& line);

// It ended with 2, and each of `said` stands in what it said.
void expect_refused(const CommandResult& result, const std::vector<std::string>& said);

// The same without waiting; what it says on standard error goes to the file `said`, the rest is thrown away.
pid_t start_command(const std::string& program, const std::vector<std::string>& arguments,
                    const std::string& said = "/dev/null");
// Its exit status; 128 + signal.
int wait_for(pid_t child);

// Looks again and again until `holds`, for a minute at most; whether it does.
bool wait_until(const std::function<bool()>& holds);

// A new empty folder that is removed at the end of the program.
std::string fresh_folder(const std::string& name);

// Into a file of a new folder.
std::string written(const Json& scenario, const std::string& name = "scenario.json");
// `longhaul run` of a scenario's file into `out`, which it returns; it must end well.
std::string run_of(const std::string& scenario, const std::vector<std::string>& more = {},
                   const std::string& out = fresh_folder("run"));

inline std::string scenario_file(const std::string& name) {
  return std::string(LONGHAUL_SOURCE_DIR) + "/scenarios/" + name;
}

inline Json summary_of(const std::string& run) {
  return Json::parse(read_text(run + "/summary.json"));
}

// What a run left of a method, by its label.
Json record(const std::string& run, const std::string& label);
inline std::string case_folder(const std::string& run, const std::string& label) {
  return run + "/cases/" + record(run, label)["case"].get<std::string>();
}
inline std::string training(const std::string& run, const std::string& label) {
  return run + "/train/" + record(run, label)["training"].get<std::string>();
}
inline std::string losses(const std::string& run, const std::string& label) {
  return read_text(training(run, label) + "/metrics.csv");
}

inline std::vector<Json> json_lines(const std::string& file) {
  std::istringstream in(read_text(file));
  std::vector<Json> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

// small.json with this merge patch: null takes away.
inline Json small_scenario(const Json& patch = Json::object()) {
  Json scenario = Json::parse(read_text(scenario_file("small.json")));
  scenario.merge_patch(patch);
  return scenario;
}

}  // namespace longhaul
