// The replays that a plan has made, as lines of a file: `longhaul plan --resume` takes them from there.
//
// The first line says of which plan and program they are; with others they are not taken. A line that was cut
// off, as a kill leaves it, ends what is read.
#pragma once

#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/json.h"
#include "planner/replay_task.h"

namespace longhaul {

class ReplayJournal {
 public:
  // Of `of_what`, a new one; or, where `before` is not "", with the lines of that file, which may be the
  // same. Throws InputError where these are of something else, RunError where the file cannot be written.
  ReplayJournal(std::string file, const Json& of_what, const std::string& before);

  // Fills in what is known of the task; whether anything is.
  bool take(ReplayTask& task) const;
  // Of a task that has its times; several threads may.
  void add(const ReplayTask& task);

  std::size_t taken_over() const { return taken_over_; }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return known_.size();
  }

 private:
  const std::string file_;
  std::map<std::string, std::shared_ptr<const ReplayedTimes>> known_;  // by key_of()
  std::size_t taken_over_ = 0;
  std::ofstream out_;
  mutable std::mutex mutex_;
};

}  // namespace longhaul
