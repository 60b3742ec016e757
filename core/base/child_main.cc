#include "core/base/child_main.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/index.h"
#include "core/base/printable.h"

namespace longhaul {
namespace {

volatile std::sig_atomic_t signal_came = 0, seconds_to_look = kSecondsToLook;

// Only the first one counts the time: a second must not shorten what a long last checkpoint takes.
void remember_signal(int) {
  if (signal_came == 0) alarm(static_cast<unsigned>(seconds_to_look));
  signal_came = 1;
}

// Nothing but what is safe in a handler: a library may be stuck in the middle of anything.
void give_up(int) {
  constexpr char kMessage[] =
      "error: it was told to stop and has not looked for that in time; it ends here\n";
  const ssize_t ignored = ::write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  static_cast<void>(ignored);
  _exit(kInterrupted);
}

}  // namespace

ProgressReporter::ProgressReporter(std::string program, int descriptor, bool quiet)
    : program_(std::move(program)), descriptor_(descriptor), quiet_(quiet) {
  send({{"protocol", kProtocolVersion}, {"program", program_}});
}

void ProgressReporter::progress(double done, double total, const std::string& unit, const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  const auto interval = std::chrono::milliseconds(descriptor_ < 0 ? 1000 : 100);
  if (done < total && now - last_ < interval) return;
  last_ = now;
  send({{"done", done}, {"total", total}, {"unit", unit}, {"text", text}});
  if (descriptor_ < 0 && !quiet_)
    say(stderr, fmt::format("{}: {:.0f} of {:.0f} {}, {}\n", program_, done, total, unit, text));
}

void ProgressReporter::note(const std::string& text) {
  send({{"note", text}});
  if (descriptor_ < 0) say(stderr, fmt::format("{}: {}\n", program_, text));
}

void ProgressReporter::failed(const std::string& message, int exit_status) {
  send({{"error", message}, {"exit", exit_status}});
  if (descriptor_ < 0) say(stderr, fmt::format("{}: error: {}\n", program_, message));
}

// A parent that is gone is no reason to stop here: cli/child_process.cc has it signalled (SIGTERM).
void ProgressReporter::send(const Json& message) {
  if (descriptor_ < 0) return;
  const std::string line = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = ::write(descriptor_, line.data() + written, line.size() - written);
    if (count <= 0) return;
    written += as_index(count);
  }
}

bool interrupted() {
  if (signal_came == 0) return false;
  alarm(0);  // it looks: what is left, as a last checkpoint, may take its time
  return true;
}

void watch_interrupts(int seconds) {
  seconds_to_look = seconds;
  std::signal(SIGALRM, give_up);
  struct sigaction action {};
  action.sa_handler = remember_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGUSR1, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void check_interrupt() {
  if (interrupted()) throw Interrupted();
}

FolderLock::FolderLock(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw RunError(folder + ": cannot be made: " + error.message());
  const std::string file = folder + "/.lock";
  descriptor_ = ::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw unwritable(file);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    ::close(descriptor_);
    if (reason == EWOULDBLOCK) throw RunError(folder + ": another process is writing here");
    throw unlockable(file, reason);
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
