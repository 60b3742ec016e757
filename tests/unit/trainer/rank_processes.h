// Starts longhaul-train as several ranks on this machine, as a user does: by mpirun.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "tests/support/said.h"
#include "tests/unit/trainer/support.h"

namespace longhaul {

struct RanksEnded {
  int status = 0;      // of mpirun: exit status; 128 + signal
  std::string output;  // of all, both streams
};

inline void expect_said(const RanksEnded& ended, int status, const std::vector<std::string>& parts) {
  EXPECT_EQ(ended.status, status) << ended.output;
  for (const std::string& part : parts) EXPECT_SAYS(ended.output, part);
}

class RankProcesses {
 public:
  using Arguments = std::vector<std::string>;

  // `size` ranks with the same arguments, or with others for the last one. 0: one process, without mpirun.
  RankProcesses(int size, const Arguments& arguments, const TemporaryFolder& folder,
                const Arguments& of_last = {})
      : output_(folder.file("output-" + std::to_string(started_++))) {
    std::string line = "exec env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1";
    if (size > 0)
      line += " mpirun --oversubscribe --bind-to none -n " + std::to_string(size - !of_last.empty());
    line += program(arguments);
    if (!of_last.empty()) line += " : -n 1" + program(of_last);
    line += " > " + output_ + " 2>&1";
    process_ = fork();
    if (process_ == 0) {
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
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

  // The TCP ports that a rank listens on.
  std::set<std::string> ports_of(int rank) const {
    const std::filesystem::path process = "/proc/" + std::to_string(process_of(rank));
    std::set<std::string> sockets, ports;
    for (const auto& entry : std::filesystem::directory_iterator(process / "fd")) {
      std::error_code closed;
      sockets.insert(std::filesystem::read_symlink(entry.path(), closed).string());
    }
    for (const char* table : {"net/tcp", "net/tcp6"}) {
      std::ifstream lines(process / table);
      std::string line, number, local, remote, state, skipped, inode;
      for (std::getline(lines, line); std::getline(lines, line);) {
        std::istringstream words(line);
        words >> number >> local >> remote >> state;
        for (int i = 0; i < 5; ++i) words >> skipped;
        words >> inode;
        if (state == "0A" && sockets.count("socket:[" + inode + "]") > 0) ports.insert(local);
      }
    }
    return ports;
  }

  RanksEnded wait() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = 0;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(output_)};
  }

 private:
  static std::string program(const Arguments& arguments) {
    std::string words = " '" LONGHAUL_BIN_DIR "/longhaul-train'";
    for (const std::string& argument : arguments) words += " '" + argument + "'";
    return words;
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

  inline static int started_ = 0;
  std::string output_;
  pid_t process_ = 0;
};

}  // namespace longhaul
