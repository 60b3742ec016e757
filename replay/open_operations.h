// The operations that are open, of groups and merges, where replicas may be gone.
#pragma once

#include <algorithm>
#include <map>
#include <memory>

#include "replay/meetings.h"
#include "replay/step_plan.h"

namespace longhaul {

using OpenPlans = std::map<int, std::shared_ptr<StepPlan>>;  // by step

class OpenOperations {
 public:
  // Both must outlive it.
  OpenOperations(const OpenPlans& plans, Meetings& merges) : plans_(plans), merges_(merges) {}

  // By step; a copy, since what is done to a plan may end it.
  OpenPlans plans() const { return plans_; }

  // What the replica has under way is lost; the others know that it is gone.
  void cut(int replica) {
    for (const auto& [step, plan] : plans()) plan->cut(replica);
    merges_.cut(replica);
  }
  void lose(int replica) {
    for (const auto& [step, plan] : plans()) plan->lose(replica);
    merges_.lose(replica);
  }

 private:
  const OpenPlans& plans_;
  Meetings& merges_;
};

// How many replicas are at work, by the step that they are at.
class StepsAtWork {
 public:
  void enter(int step) { ++replicas_[step]; }
  void leave(int step) {
    const auto found = replicas_.find(step);
    if (--found->second == 0) replicas_.erase(found);
  }
  bool is_nobody() const { return replicas_.empty(); }
  int replicas() const {
    int all = 0;
    for (const auto& [step, replicas] : replicas_) all += replicas;
    return all;
  }
  // Below which nobody is; where nobody is at work, below which rows were closed last.
  int lowest() const { return is_nobody() ? closed_ : std::max(closed_, replicas_.begin()->first); }
  // The same, where the rows below are closed now.
  int close() { return closed_ = is_nobody() ? closed_ : replicas_.begin()->first; }

 private:
  std::map<int, int> replicas_;
  int closed_ = 0;
};

}  // namespace longhaul
