#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "methods/common/python_step.h"

namespace longhaul {

const std::map<std::string, std::string_view>& outer_scripts();  // python/longhaul, compiled in

namespace {

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

PythonChild::PythonChild(int conversations) {
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
  if (pid_ > 0) wait_for_end(pid_);
}

Json PythonChild::ask(const Json& request, int conversation) {
  auto& [socket, unread] = conversations_.at(as_index(conversation));
  if (request.contains("file")) file_ = request["file"];
  const std::string line = request.dump() + "\n";
  const auto ended = [this] { return RunError(file_ + ": the process of its step has ended"); };
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t count = send(socket, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) throw ended();
    sent += count > 0 ? as_index(count) : 0;
  }
  std::size_t end = unread.find('\n');
  for (char chunk[4096]; end == std::string::npos; end = unread.find('\n')) {
    const ssize_t count = recv(socket, chunk, sizeof chunk, 0);
    if (count == 0 || (count < 0 && errno != EINTR)) throw ended();
    unread.append(chunk, count > 0 ? as_index(count) : 0);
  }
  const Json answer = parse_json(unread.substr(0, end));
  unread.erase(0, end + 1);
  if (!answer.contains("error")) return answer;
  const Json& error = answer["error"];
  throw InputError(
      "method.file",
      fmt::format("{}, line {}: {}", file_, error["line"].get<int>(), error["found"].get<std::string>()),
      error["allowed"].get<std::string>());
}

}  // namespace longhaul
