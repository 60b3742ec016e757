// Runs the built executables as a user does and keeps what they said.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/support/files.h"

namespace longhaul {

struct CommandResult {
  int status = 0;  // exit status; 128 + signal
  std::string out, err;
};

// `program` is an executable of the build ("longhaul"); arguments are passed as they are, no shell.
CommandResult run_command_line(const std::string& program, const std::vector<std::string>& arguments);
CommandResult longhaul(const std::vector<std::string>& arguments);

// The same without waiting; what it says is thrown away.
pid_t start_command(const std::string& program, const std::vector<std::string>& arguments);
// Its exit status; 128 + signal.
int wait_for(pid_t child);

// A new empty folder that is removed at the end of the program.
std::string fresh_folder(const std::string& name);

inline std::string scenario_file(const std::string& name) {
  return std::string(LONGHAUL_SOURCE_DIR) + "/scenarios/" + name;
}

}  // namespace longhaul
