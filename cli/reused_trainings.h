// Finished trainings of other runs, by their keys: `longhaul run --trainings RUN` copies them into its own
// run directory and replays them on its own network.
//
// They are copied, not linked: a run directory is complete in itself, and neither run changes or loses what
// the other has. TRAINING/taken_from.json and manifest.json say which run trained them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "checks/work_estimate.h"
#include "core/base/json.h"

namespace longhaul {

struct RunOptions;

class ReusedTrainings {
 public:
  // Those of the plan that a run of `options.trainings` has finished; the first run that has one gives it.
  // None without that option. Throws InputError (--trainings): a folder that is no run directory; a training
  // that no run has, neither those nor the folder that is to be continued, unless options.trains_missing.
  ReusedTrainings(const RunOptions& options, const std::string& default_folder, const WorkPlan& plan);

  bool has(const std::string& key) const { return sources_.count(key) > 0; }
  bool empty() const { return sources_.empty(); }
  // Without the trainings that are taken.
  WorkPlan rest_of(WorkPlan plan) const;
  // Trainings of another version or commit of Longhaul: one sentence a run.
  std::vector<std::string> warnings() const;

  // Makes `folder` that training, done last. Throws RunError where it cannot be written.
  void copy(const std::string& key, const std::string& folder) const;

 private:
  struct Source {
    std::string run, folder;
  };

  std::map<std::string, Source> sources_;
};

// The cases of `--only replay` need finished trainings. Throws InputError (--only) where none of the cases
// has one; cases whose replay comes before their training need none.
void check_replay_alone(const RunOptions& options, const std::string& default_folder, const WorkPlan& plan,
                        const ReusedTrainings& reused);

// Of a replay alone: the cases of the plan whose training is not finished, "" where there are none.
std::string not_replayed_in_words(const std::string& folder, const WorkPlan& plan);

}  // namespace longhaul
