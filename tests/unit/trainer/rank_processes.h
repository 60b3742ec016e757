// Starts longhaul-train as several ranks on this machine, as a user does: the environment says who is who.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/trainer/support.h"

namespace longhaul {

// A port of the loopback that was free a moment ago.
inline int free_port() {
  const int listening = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(listening, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(listening);
  return ntohs(address.sin_port);
}

struct RankEnded {
  int status = 0;      // exit status; 128 + signal
  std::string output;  // both streams
};

class RankProcesses {
 public:
  using Environment = std::map<std::string, std::string>;

  // `size` ranks with the same arguments; single ones have those in `differing`.
  RankProcesses(int size, const std::vector<std::string>& arguments, const TemporaryFolder& folder,
                const std::map<int, std::vector<std::string>>& differing = {}, int master_port = free_port())
      : folder_(folder) {
    const std::string port = std::to_string(master_port);
    for (int rank = 0; rank < size; ++rank) {
      const auto other = differing.find(rank);
      start({{"RANK", std::to_string(rank)},
             {"WORLD_SIZE", std::to_string(size)},
             {"MASTER_ADDR", "127.0.0.1"},
             {"MASTER_PORT", port}},
            other == differing.end() ? arguments : other->second);
    }
  }
  ~RankProcesses() {
    for (pid_t process : processes_)
      if (process > 0) ::kill(process, SIGKILL), ::waitpid(process, nullptr, 0);
  }
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  // Until one has ended or was waited for.
  bool all_run() const {
    for (pid_t process : processes_) {
      siginfo_t ended{};
      if (process == 0 ||
          ::waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
          ended.si_pid != 0)
        return false;
    }
    return true;
  }

  void kill(int rank, int signal) { ::kill(processes_.at(static_cast<std::size_t>(rank)), signal); }

  RankEnded wait(int rank) {
    pid_t& process = processes_.at(static_cast<std::size_t>(rank));
    int status = 0;
    ::waitpid(process, &status, 0);
    process = 0;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(output(rank))};
  }
  std::vector<RankEnded> wait() {
    std::vector<RankEnded> ended;
    for (int rank = 0; rank < static_cast<int>(processes_.size()); ++rank) ended.push_back(wait(rank));
    return ended;
  }

 private:
  std::string output(int rank) const { return folder_.file("output-" + std::to_string(rank)); }

  void start(const Environment& environment, const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {std::string(LONGHAUL_BIN_DIR) + "/longhaul-train"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const std::string file = output(static_cast<int>(processes_.size()));
    processes_.push_back(fork());
    if (processes_.back() == 0) become(environment, words, file);
  }

  [[noreturn]] static void become(const Environment& environment, std::vector<std::string>& words,
                                  const std::string& file) {
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> raw;
    for (std::string& word : words) raw.push_back(word.data());
    raw.push_back(nullptr);
    const int out = open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execv(raw[0], raw.data());
    _exit(127);
  }

  const TemporaryFolder& folder_;
  std::vector<pid_t> processes_;
};

}  // namespace longhaul
