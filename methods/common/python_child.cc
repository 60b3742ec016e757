#include "methods/common/python_child.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/child_main.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/printable.h"
#include "core/base/units.h"

namespace longhaul {

const std::map<std::string, std::string_view>& outer_scripts();  // python/longhaul, compiled in

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kLimit = "LONGHAUL_STEP_LIMIT";
constexpr double kUsualLimit_s = 600, kNever_s = 1e9;
constexpr int kLook_ms = 100;  // at interrupts and times, while it waits
constexpr double kToTell_s = 5;
constexpr std::chrono::seconds kToEnd{2}, kToSayHow{1};
constexpr std::chrono::seconds kBeforeAnInterrupt{1};  // a step that returns soon is not thrown away

double step_limit_s() {
  const char* given = std::getenv(kLimit);
  if (!given) return kUsualLimit_s;
  if (std::string_view(given) == "unlimited") return kNever_s;
  try {
    if (const double seconds = parse_duration(given); seconds > 0) return seconds;
  } catch (const InputError&) {
  }
  throw InputError("", fmt::format("{} is \"{}\"", kLimit, given), "a duration above 0 (10min), or unlimited",
                   "how long a step in Python may take");
}

std::function<void(const std::string&)>& slow_step_listener() {
  static std::function<void(const std::string&)> listener = [](const std::string& text) {
    say(stderr, text + "\n");
  };
  return listener;
}

// Its process, in a group of its own: an interrupt is for those who wait for it. -1: it does not start.
pid_t spawn(std::vector<std::string> arguments, int input_and_output) {
  std::vector<char*> raw;
  for (std::string& argument : arguments) raw.push_back(argument.data());
  raw.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  if (input_and_output >= 0)
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO})
      posix_spawn_file_actions_adddup2(&actions, input_and_output, standard);
  else
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  if (posix_spawn(&child, raw[0], &actions, &attributes, raw.data(), environ) != 0) child = -1;
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return child;
}

// " with exit status 7", " by signal 11 (Segmentation fault)"; "" where a process that it forked has ended.
std::string end_in_words(pid_t child) {
  int status = 0;
  for (const auto asked = Clock::now(); waitpid(child, &status, WNOHANG) != child;
       std::this_thread::sleep_for(std::chrono::milliseconds(1)))
    if (Clock::now() - asked > kToSayHow) return "";
  if (WIFEXITED(status)) return fmt::format(" with exit status {}", WEXITSTATUS(status));
  return fmt::format(" by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
}

int wait_for_end(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string python_with_numpy() {
  std::stringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/python3";
    if (access(file.c_str(), X_OK) != 0) continue;
    const pid_t child = spawn({file, "-c", "import numpy"}, -1);
    if (child > 0 && wait_for_end(child) == 0) return file;
  }
  throw InputError("method.file", "no python3 on the search path has numpy, which a step in Python needs",
                   "one that has", "Debian: apt-get install python3-numpy");
}

}  // namespace

void tell_of_slow_steps(std::function<void(const std::string& text)> tell) {
  slow_step_listener() = std::move(tell);
}

PythonChild::PythonChild(int conversations) : limit_s_(step_limit_s()) {
  static const std::string python = python_with_numpy();
  std::vector<int> theirs;
  for (int i = 0; i < conversations; ++i) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw RunError(std::string("no socket: ") + std::strerror(errno));
    conversations_.push_back({ends[0], ""});
    theirs.push_back(ends[1]);
    if (i > 0) fcntl(ends[1], F_SETFD, 0);  // the child's too
  }
  pid_ = spawn({python, "-c", std::string(outer_scripts().at("outer.py"))}, theirs[0]);
  for (const int end : theirs) close(end);
  others_.assign(theirs.begin() + 1, theirs.end());
}

PythonChild::~PythonChild() {
  for (const Conversation& one : conversations_) close(one.socket);  // it ends
  if (pid_ <= 0) return;
  for (const auto closed = Clock::now(); Clock::now() - closed < kToEnd;
       std::this_thread::sleep_for(std::chrono::milliseconds(1)))
    if (waitpid(pid_, nullptr, WNOHANG) != 0) return;
  kill(-pid_, SIGKILL);  // in a step that does not return
  wait_for_end(pid_);
}

InputError PythonChild::ended() const {
  return InputError("method.file", fmt::format("{}: its step ended the process{}", file_, end_in_words(pid_)),
                    "a step that returns, or raises an exception",
                    "os._exit ends it, and so does a library that crashes");
}

void PythonChild::send_line(const Conversation& conversation, const std::string& line) const {
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t count = send(conversation.socket, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) throw ended();
    sent += count > 0 ? as_index(count) : 0;
  }
}

void PythonChild::wait_for_answer(int socket, Clock::time_point asked) {
  for (pollfd one{socket, POLLIN, 0}; poll(&one, 1, kLook_ms) <= 0;) {
    const Clock::duration waited = Clock::now() - asked;
    const double waited_s = std::chrono::duration<double>(waited).count();
    if (waited_s > std::min(kToTell_s, limit_s_ / 2) && !told_.exchange(true))
      slow_step_listener()(
          fmt::format("{}: its step has not returned for {} s{}", file_, std::lround(waited_s),
                      limit_s_ < kNever_s ? fmt::format("; it may take {}", human_duration(limit_s_)) : ""));
    if (waited > kBeforeAnInterrupt) check_interrupt();
    if (waited_s > limit_s_)
      throw InputError("method.file",
                       fmt::format("{}: its step has not returned for {}", file_, human_duration(limit_s_)),
                       "a step that returns",
                       fmt::format("{}=1h in the environment, or unlimited, lets it take longer", kLimit));
  }
}

std::string PythonChild::next_line(Conversation& conversation) {
  const Clock::time_point asked = Clock::now();
  std::string& unread = conversation.unread;
  std::size_t end = unread.find('\n');
  for (char chunk[4096]; end == std::string::npos; end = unread.find('\n')) {
    wait_for_answer(conversation.socket, asked);
    const ssize_t count = recv(conversation.socket, chunk, sizeof chunk, 0);
    if (count == 0 || (count < 0 && errno != EINTR)) throw ended();
    unread.append(chunk, count > 0 ? as_index(count) : 0);
  }
  const std::string line = unread.substr(0, end);
  unread.erase(0, end + 1);
  return line;
}

Json PythonChild::ask(const Json& request, int conversation) {
  Conversation& with = conversations_.at(as_index(conversation));
  if (request.contains("file")) file_ = request["file"];
  send_line(with, request.dump() + "\n");
  const Json answer = parse_json(next_line(with));
  if (!answer.contains("error")) return answer;
  const Json& error = answer["error"];
  throw InputError(
      "method.file",
      fmt::format("{}, line {}: {}", file_, error["line"].get<int>(), error["found"].get<std::string>()),
      error["allowed"].get<std::string>());
}

}  // namespace longhaul
