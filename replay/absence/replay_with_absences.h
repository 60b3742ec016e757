// A replay in which replicas are gone for a while (membership.h): crashes, returns.
#pragma once

#include <memory>
#include <string>

#include "replay/absence/membership.h"
#include "replay/engine/plain_replay.h"

namespace longhaul {

class ReplayWithAbsences : public PlainReplay {
 public:
  ReplayWithAbsences(const Case& config, const Trace& trace, const std::string& folder,
                     ProgressReporter& reporter, Clock& clock, const NetworkMaker& network_of);

  // What its membership asks of it and tells it. Steps count from 1; those of a replica with stages are those
  // of its last worker.
  int step_of(int replica) const;     // that it is at, or was at last
  bool has_ended(int replica) const;  // its last step is over
  // It is gone, and what it has under way is lost; returns the first step that it has not computed.
  int stop(int replica);
  void lose(int replica);                                // the others know that it is gone
  void begin(int replica, int step);                     // with this step
  void redo(int replica);                                // the step that it was at
  int lowest_step() const { return at_work_.lowest(); }  // that anybody is at: rows below it are written
  // A copy, since what is done to a plan may end it.
  OpenPlans open_plans() const { return open_plans_; }
  void fail() const;  // nothing happens any more but crashes and returns: throws RunError

 private:
  void begin_training() override;
  bool takes_steps_together() const override { return false; }
  int gone_replicas() const override;
  std::shared_ptr<StepPlan> make_plan(int step, const StepPlan::MemberDone& on_member_done) override;
  void made_plan(StepPlan& plan, int step) override { membership_.made(plan, step); }
  void note_finished(const GroupOperation& run) override;
  bool counts_shares(const OperationRule&) const override { return true; }
  void ended_step(int worker) override;
  void end_totals() override;

  template <typename Of>
  bool of_all_workers(int replica, const Of& of) const {
    for (int stage = 0; stage < stages_; ++stage)
      if (!of(workers_.at(worker_of(replica, stage, stages_)))) return false;
    return true;
  }
  int stop_worker(int worker);  // the first step that it has not computed

  const int stages_;
  Membership membership_;
};

}  // namespace longhaul
