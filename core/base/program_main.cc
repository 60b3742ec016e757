#include "core/base/program_main.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>

#include "core/base/errors.h"
#include "core/base/files.h"

namespace longhaul {
namespace {

// Of a pipe or a socket. Where an earlier write found it out, the reason is no longer in errno.
bool is_reader_gone() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP));
}

}  // namespace

int program_main(const std::string& program, const std::function<int()>& body) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond ulimit -f then fails with EFBIG, which is said
  const int status = body();
  errno = 0;
  std::cout.flush();
  const bool is_flushed = std::fflush(stdout) == 0;
  if (is_flushed && !std::ferror(stdout) && std::cout.good()) return status;
  const int reason = errno;
  if (status != kDone || is_reader_gone()) return status;
  errno = reason;
  std::fprintf(stderr, "%s: error: %s\n", program.c_str(), unwritable("standard output").what());
  return kRunFailed;
}

}  // namespace longhaul
