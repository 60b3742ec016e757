// The operations of the steps at which workers are.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/plan/trace.h"
#include "replay/exchange/step_plan.h"
#include "replay/work/stage_assignment.h"
#include "replay/workers/ledger.h"
#include "replay/workers/presence.h"

namespace longhaul {

class StepPlans : public PresenceListener {
 public:
  // All must outlive it. `on_member_done` as that of StepPlan.
  StepPlans(const ExchangeContext& context, const Trace& trace, const StageAssignment& assignment,
            const Presence& presence, Ledger& ledger, StepPlan::MemberDone on_member_done);

  // Made when the first worker asks for it; null at a step without an exchange. Throws InputError for invalid
  // groups.
  std::shared_ptr<StepPlan> at(int step);
  // Nobody is at steps below this one: their operations go, once they are over.
  void close(int step);
  void finish();  // the replay is over
  bool has_below(int step) const { return !plans_.empty() && plans_.begin()->first < step; }
  std::vector<std::string> waiting() const;  // who waits for whom, a line each

  void on_crash(int replica) override;
  void on_listener_crash(int replica) override { on_crash(replica); }
  void on_failure_detected(int replica) override;
  int on_listening(int replica, int first_step) override;
  void on_state_arrived(int replica) override;
  void on_return(int replica, int step, Return as, bool has_own_state) override;
  void on_resume(int replica, int step) override;

 private:
  void count_sent(const StepPlan& plan);

  using Plans = std::map<int, std::shared_ptr<StepPlan>>;  // by step

  const ExchangeContext& context_;
  const Trace& trace_;
  const StageAssignment& assignment_;
  const Presence& presence_;
  Ledger& ledger_;
  const StepPlan::MemberDone on_member_done_;
  Plans plans_;
};

}  // namespace longhaul
