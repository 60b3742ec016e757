// A replay in which replicas are gone for a while (membership.h): crashes, leaves, returns.
#pragma once

#include <memory>
#include <string>

#include "replay/membership.h"
#include "replay/open_operations.h"
#include "replay/plain_replay.h"

namespace longhaul {

class ReplayWithAbsences : public PlainReplay, private Membership::Host {
 public:
  ReplayWithAbsences(const Case& config, const Trace& trace, const std::string& folder,
                     ProgressReporter& reporter, Clock& clock, const NetworkMaker& network_of);

 private:
  void begin_training() override;
  bool is_over() const override { return finished_ > 0 && at_work_.is_nobody(); }
  bool takes_steps_together() const override { return false; }
  void began_step(int worker) override { at_work_.enter(workers_.at(worker).step); }
  std::shared_ptr<StepPlan> make_plan(int step, const StepPlan::MemberDone& on_member_done) override;
  void made_plan(StepPlan& plan, int step) override { membership_.made(plan, step); }
  void note_finished(const GroupOperation& run) override;
  bool counts_shares(const OperationRule&) const override { return true; }
  void end_step(int worker) override;
  void merge_arrived() override { look_who_may_go(); }
  void end_totals() override;

  // Of a replica with stages: of its last worker.
  int step_of(int replica) const override;
  bool has_ended(int replica) const override;
  bool is_going(int replica) const override { return stages_ == 1 && workers_.at(replica).is_going; }
  int stop(int replica) override;
  void begin(int replica, int step) override;
  void redo(int replica) override;
  void take_next_step(int replica) override;
  void let_go() override;
  int lowest_step() const override { return at_work_.lowest(); }
  void fail() const override;

  template <typename Of>
  bool of_all_workers(int replica, const Of& of) const {
    for (int stage = 0; stage < stages_; ++stage)
      if (!of(workers_.at(worker_of(replica, stage, stages_)))) return false;
    return true;
  }
  int stop_worker(int worker);  // the first step that it has not computed
  void stop_going(Worker& worker);
  void look_who_may_go();
  void go_if_all_is_over(int replica);
  void close_steps();
  void stop_if_all_ended();

  const int stages_;
  OpenOperations open_;
  Membership membership_;
  StepsAtWork at_work_;
  int going_ = 0;  // replicas that leave and have taken their last step
};

}  // namespace longhaul
