// Starts longhaul-train as several ranks on this machine, as a user does: by mpirun.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/trainer/support.h"

namespace longhaul {

struct RanksEnded {
  int status = 0;      // of mpirun: exit status; 128 + signal
  std::string output;  // of all, both streams
};

class RankProcesses {
 public:
  using Arguments = std::vector<std::string>;

  // `size` ranks with the same arguments; single ones have those in `differing`. 0: one process, without
  // mpirun.
  RankProcesses(int size, const Arguments& arguments, const TemporaryFolder& folder,
                const std::map<int, Arguments>& differing = {})
      : output_(folder.file("output-" + std::to_string(count()))) {
    Arguments words;
    if (size > 0) words = {"mpirun", "--oversubscribe", "--bind-to", "none"};
    for (int rank = 0; rank < size; ++rank) {
      const auto other = differing.find(rank);
      if (differing.empty() && rank > 0) break;
      if (rank > 0) words.push_back(":");
      words.insert(words.end(), {"-n", std::to_string(differing.empty() ? size : 1)});
      add_program(words, other == differing.end() ? arguments : other->second);
    }
    if (size == 0) add_program(words, arguments);
    process_ = fork();
    if (process_ == 0) become(words);
  }
  ~RankProcesses() {
    if (process_ > 0) ::kill(process_, SIGKILL), ::waitpid(process_, nullptr, 0);
  }
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  bool run() const {
    siginfo_t ended{};
    return ::waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0;
  }

  void kill(int rank, int signal) const { ASSERT_EQ(::kill(process_of(rank), signal), 0); }
  void kill_mpirun(int signal) const { ::kill(process_, signal); }

  RanksEnded wait() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = 0;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(output_)};
  }

 private:
  static int count() {
    static int count = 0;
    return count++;
  }

  static void add_program(Arguments& words, const Arguments& arguments) {
    words.push_back(std::string(LONGHAUL_BIN_DIR) + "/longhaul-train");
    words.insert(words.end(), arguments.begin(), arguments.end());
  }

  // mpirun's child that has this number in its environment.
  pid_t process_of(int rank) const {
    const std::string number = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ifstream status(entry.path() / "status"), environment(entry.path() / "environ");
      bool is_child = false;
      for (std::string line; std::getline(status, line);)
        is_child = is_child || line == "PPid:\t" + std::to_string(process_);
      for (std::string line; is_child && std::getline(environment, line, '\0');)
        if (line == number) return std::stoi(entry.path().filename());
    }
    ADD_FAILURE() << "mpirun has no rank " << rank;
    return process_;
  }

  [[noreturn]] void become(Arguments& words) const {
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
      setenv(name, "1", 1);
    std::vector<char*> raw;
    for (std::string& word : words) raw.push_back(word.data());
    raw.push_back(nullptr);
    const int out = open(output_.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execvp(raw[0], raw.data());
    _exit(127);
  }

  std::string output_;
  pid_t process_ = 0;
};

}  // namespace longhaul
