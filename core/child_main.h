// What the mains of longhaul-train and longhaul-sim share: signals, death with the parent, the lock on the
// folder that is written, and how an exception becomes an exit status.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "core/progress.h"

namespace longhaul {

// Thrown by check_interrupt(); becomes exit status 130.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

// True once SIGINT or SIGTERM came (after watch_interrupts()).
bool interrupted();
void watch_interrupts();
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
