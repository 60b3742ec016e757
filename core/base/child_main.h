// What the mains of longhaul-train and longhaul-sim share as children of longhaul: telling it where they are,
// signals, the lock on the folder that is written, and how an exception becomes an exit status.
#pragma once

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

#include "core/base/json.h"

namespace longhaul {

constexpr int kProtocolVersion = 1;

// JSON lines on a descriptor of the child's own (docs/formats.md, "protocol"). Without a descriptor, the
// child was started by hand and writes to the terminal.
class ProgressReporter {
 public:
  // `descriptor` < 0: a line a second on stderr, or nothing with `quiet`.
  ProgressReporter(std::string program, int descriptor, bool quiet);
  virtual ~ProgressReporter() = default;

  // At most ten a second get through; the last one (done == total) always does. `text` is for people.
  virtual void progress(double done, double total, const std::string& unit, const std::string& text);
  // A line that people should see now, whatever else goes on.
  void note(const std::string& text);
  // The last word of a child: what it made, or why it could not.
  void finished(const Json& result) { send({{"result", result}}); }
  void failed(const std::string& message, int exit_status);

 private:
  void send(const Json& message);

  std::string program_;
  int descriptor_;
  bool quiet_;
  std::chrono::steady_clock::time_point last_{};
};

// Thrown by check_interrupt(); becomes exit status 130.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

// How long a signal may go unnoticed: longer than an inner step should take.
constexpr int kSecondsToLook = 120;

// True once SIGINT, SIGTERM or SIGUSR1, which mpirun and schedulers pass on, came (after watch_interrupts()).
bool interrupted();
// After a signal the process ends by itself, with kInterrupted, where nothing calls interrupted() within
// `seconds`: a library that never returns would outlive a parent that is gone.
void watch_interrupts(int seconds = kSecondsToLook);
// Throws Interrupted if a signal came. Long loops call it once a step.
void check_interrupt();

// Holds an exclusive lock on FOLDER/.lock while it lives; creates the folder. Throws RunError if another
// process holds it or it cannot be written.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

// Runs `body`; its return value is the result that is reported. Returns the exit status.
int child_main(ProgressReporter& reporter, const std::function<Json()>& body);

}  // namespace longhaul
