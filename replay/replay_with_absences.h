// A replay in which replicas are gone for a while (membership.h): crashes, leaves, returns.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "replay/membership.h"
#include "replay/plain_replay.h"

namespace longhaul {

class ReplayWithAbsences : public PlainReplay, private Membership::Host {
 public:
  ReplayWithAbsences(const Case& config, const Trace& trace, const std::string& folder,
                     ProgressReporter& reporter, Clock& clock, const NetworkMaker& network_of);

 private:
  void begin_training() override;
  bool is_over() const override { return finished_ > 0 && at_step_.empty(); }
  bool takes_steps_together() const override { return false; }
  void began_step(int replica) override { ++at_step_[workers_.at(replica).step]; }
  std::shared_ptr<StepPlan> make_plan(int step, const StepPlan::MemberDone& on_member_done) override;
  void made_plan(StepPlan& plan, int step) override { membership_.made(plan, step); }
  void note_finished(const GroupOperation& run) override;
  bool counts_shares(const OperationRule&) const override { return true; }
  void end_step(int replica) override;
  void merge_arrived() override { look_who_may_go(); }
  void end_totals() override;

  int step_of(int replica) const override { return workers_.at(replica).step; }
  bool has_ended(int replica) const override { return workers_.at(replica).has_ended; }
  bool is_going(int replica) const override { return workers_.at(replica).is_going; }
  int stop(int replica) override;
  void begin(int replica, int step) override;
  void redo(int replica) override;
  void take_next_step(int replica) override;
  void let_go() override;
  void cut(int replica) override;
  void lose(int replica) override;
  void announce_leave(int replica, int last_step) override;
  OpenPlans open_plans() const override { return open_plans_; }
  int lowest_step() const override;
  double since_origin_s() const override { return workers_.now(); }
  void fail() const override;

  void stop_going(Worker& worker);
  void look_who_may_go();
  void go_if_all_is_over(int replica);
  void leave_count(int step);
  void close_steps();
  void stop_if_all_ended();

  Membership membership_;
  std::map<int, int> at_step_;  // replicas at work, by their step
  int latest_lowest_ = 0;
  int going_ = 0;  // replicas that leave and have taken their last step
};

}  // namespace longhaul
