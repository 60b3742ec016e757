#include "tests/integration/command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <list>
#include <thread>

#include "tests/support/said.h"

namespace longhaul {
namespace {

// They are removed at the end of the program.
std::list<TemporaryFolder> folders;

[[noreturn]] void become(std::vector<std::string> words, const std::string& out, const std::string& err) {
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(open(out.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644), STDOUT_FILENO);
  dup2(open(err.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644), STDERR_FILENO);
  execv(raw[0], raw.data());
  _exit(127);
}

pid_t start(const std::string& program, const std::vector<std::string>& arguments, const std::string& out,
            const std::string& err) {
  std::vector<std::string> words = {std::string(LONGHAUL_BIN_DIR) + "/" + program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const pid_t child = fork();
  if (child == 0) become(words, out, err);
  return child;
}

int ended_with(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

CommandResult run_command_line(const std::string& program, const std::vector<std::string>& arguments) {
  const std::string folder = fresh_folder("output");
  const int status = wait_for(start(program, arguments, folder + "/out", folder + "/err"));
  return {status, read_text(folder + "/out"), read_text(folder + "/err")};
}

pid_t start_command(const std::string& program, const std::vector<std::string>& arguments,
                    const std::string& said) {
  return start(program, arguments, "/dev/null", said);
}

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return ended_with(status);
}

CommandResult shell(const std::string& line) {
  const std::string folder = fresh_folder("shell"), out = folder + "/out", err = folder + "/err";
  const std::string whole = "B='" LONGHAUL_BIN_DIR "'; { " + line + "; } > '" + out + "' 2> '" + err + "'";
  const int status = ended_with(std::system(whole.c_str()));
  return {status, read_text(out), read_text(err)};
}

CommandResult longhaul(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_command_line("longhaul", arguments);
}

std::string written(const Json& scenario, const std::string& name) {
  const std::string file = fresh_folder("scenario") + "/" + name;
  write_text(file, scenario.dump(1));
  return file;
}

std::string run_of(const std::string& scenario, const std::vector<std::string>& more,
                   const std::string& out) {
  const CommandResult result = longhaul({"run", scenario, "--out", out, "--quiet"}, more);
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  return out;
}

Json record(const std::string& run, const std::string& label) {
  const Json summary = summary_of(run);
  for (const Json& entry : summary["cases"])
    if (entry["label"] == label) return entry;
  throw std::runtime_error("no case " + label);
}

void expect_refused(const CommandResult& result, const std::vector<std::string>& said) {
  EXPECT_EQ(result.status, 2) << result.out << result.err;
  for (const std::string& words : said) EXPECT_SAYS(result.err, words);
}

bool wait_until(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

std::string fresh_folder(const std::string& name) {
  folders.emplace_back();
  const std::string folder = folders.back().file(name);
  std::filesystem::create_directory(folder);
  return folder;
}

}  // namespace longhaul
