#include "core/child_main.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/errors.h"
#include "core/index.h"

namespace longhaul {
namespace {

volatile std::sig_atomic_t signal_came = 0;

void remember_signal(int) {
  signal_came = 1;
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
    std::fputs(fmt::format("{}: {:.0f} of {:.0f} {}, {}\n", program_, done, total, unit, text).c_str(),
               stderr);
}

void ProgressReporter::finished(const Json& result) {
  send({{"result", result}});
}

void ProgressReporter::failed(const std::string& message, int exit_status) {
  send({{"error", message}, {"exit", exit_status}});
  if (descriptor_ < 0) std::fputs(fmt::format("{}: error: {}\n", program_, message).c_str(), stderr);
}

// A parent that is gone is no reason to stop here: cli/child_process.cc arranges the death with the parent.
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
