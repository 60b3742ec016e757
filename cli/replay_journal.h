// The replays that a plan has made, as lines of a file: `longhaul plan --resume` takes them from there.
//
// The first line says of which plan and program they are; those of others are refused. Each line has a hash
// of what it says: one that was cut off or changed ends what is read.
#pragma once

#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/json.h"
#include "planner/replay_task.h"

namespace longhaul {

// Of an earlier call: by key, and the lines themselves.
struct KnownReplays {
  std::map<std::string, std::shared_ptr<const ReplayedTimes>> times;
  std::string lines;
};

// Throws InputError where the file's replays are of another plan, program or measurements than `of_what`:
// {"program", "plan", "measured"}.
KnownReplays read_replays(const std::string& file, const Json& of_what);

class ReplayJournal {
 public:
  // Writes the file anew, with what is known. Throws RunError where it cannot be written.
  ReplayJournal(std::string file, const Json& of_what, KnownReplays known);

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
  std::map<std::string, std::shared_ptr<const ReplayedTimes>> known_;
  const std::size_t taken_over_;
  std::ofstream out_;
  mutable std::mutex mutex_;
};

}  // namespace longhaul
