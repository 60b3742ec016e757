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

  // What the replica has under way is lost; the others know that it is gone, or that it takes no step behind
  // this one.
  void cut(int replica) {
    for (const auto& [step, plan] : plans()) plan->cut(replica);
    merges_.cut(replica);
  }
  void lose(int replica) {
    for (const auto& [step, plan] : plans()) plan->lose(replica);
    merges_.lose(replica);
  }
  void announce_leave(int replica, int last_step) {
    for (const auto& [step, plan] : plans())
      if (step > last_step) plan->lose(replica);
    merges_.announce_leave(replica, last_step);
  }
  // Those up to this step.
  bool are_over_for(int replica, int last_step) const {
    return merges_.is_over_for(replica) && std::all_of(plans_.begin(), plans_.end(), [&](const auto& open) {
             return open.first > last_step || open.second->is_over_for(replica);
           });
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
