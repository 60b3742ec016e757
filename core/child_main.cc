#include "core/child_main.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "core/errors.h"

namespace longhaul {
namespace {

volatile std::sig_atomic_t signal_came = 0;

void remember_signal(int) {
  signal_came = 1;
}

}  // namespace

bool interrupted() {
  return signal_came != 0;
}

void watch_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void check_interrupt() {
  if (interrupted()) throw Interrupted();
}

FolderLock::FolderLock(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string file = folder + "/.lock";
  descriptor_ = ::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw RunError(file + ": cannot be written: " + std::strerror(errno));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor_);
    throw RunError(folder + ": another process is writing here");
  }
}

FolderLock::~FolderLock() {
  ::close(descriptor_);
}

int child_main(ProgressReporter& reporter, const std::function<Json()>& body) {
  watch_interrupts();
  try {
    reporter.finished(body());
    return kDone;
  } catch (const Interrupted& error) {
    reporter.failed(error.what(), kInterrupted);
    return kInterrupted;
  } catch (const InputError& error) {
    reporter.failed(error.what(), kInputWrong);
    return kInputWrong;
  } catch (const std::exception& error) {
    reporter.failed(error.what(), kRunFailed);
    return kRunFailed;
  }
}

}  // namespace longhaul
