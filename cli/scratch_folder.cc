#include "cli/scratch_folder.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "core/base/errors.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

// Children of a process that was killed may write for a moment longer.
void remove_for_good(const std::string& folder) {
  constexpr int kTries = 50, kQuiet = 5, kBetween_us = 100000;
  int quiet = 0;
  for (int i = 0; i < kTries && quiet < kQuiet; ++i) {
    std::error_code ignored;
    quiet = fs::exists(folder, ignored) ? 0 : quiet + 1;
    fs::remove_all(folder, ignored);
    usleep(kBetween_us);
  }
}

// Holds nothing of its parent's, and is out of reach of the terminal's signals.
[[noreturn]] void keep(const std::string& folder, int is_alive) {
  setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);
  dup2(is_alive, STDIN_FILENO);
  const long most = sysconf(_SC_OPEN_MAX);
  for (int fd = STDIN_FILENO + 1; fd < (most > 0 && most < 65536 ? most : 65536); ++fd) close(fd);
  char byte = 0;
  ssize_t got = 0;
  while ((got = read(STDIN_FILENO, &byte, 1)) < 0 && errno == EINTR) {
  }
  if (got <= 0) remove_for_good(folder);  // a byte: it is done already
  _exit(0);
}

}  // namespace

ScratchFolder::ScratchFolder(const std::string& name)
    : path((fs::temp_directory_path() / ("longhaul-" + name + "-XXXXXX")).string()) {
  if (!mkdtemp(path.data())) throw RunError(path + ": no folder could be made");
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw RunError(std::string("no pipe: ") + std::strerror(errno));
  keeper_ = fork();
  if (keeper_ == 0) {
    close(ends[1]);
    keep(path, ends[0]);
  }
  close(ends[0]);
  alive_ = ends[1];
  if (keeper_ < 0) throw RunError(std::string("no process: ") + std::strerror(errno));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path, ignored);
  const char done = 1;
  const ssize_t written = write(alive_, &done, 1);
  static_cast<void>(written);
  close(alive_);
  while (waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace longhaul
