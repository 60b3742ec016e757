#include "replay/engine/step_plans.h"

#include <utility>

#include "replay/work/trace_steps.h"

namespace longhaul {

StepPlans::StepPlans(const ExchangeContext& context, const Trace& trace, const StageAssignment& assignment,
                     const Presence& presence, Ledger& ledger, StepPlan::MemberDone on_member_done)
    : context_(context),
      trace_(trace),
      assignment_(assignment),
      presence_(presence),
      ledger_(ledger),
      on_member_done_(std::move(on_member_done)) {}

std::shared_ptr<StepPlan> StepPlans::at(int step) {
  const auto known = plans_.find(step);
  if (known != plans_.end()) return known->second;
  if (next_exchange(trace_, step) != step) return nullptr;
  if (!presence_.changes())
    return plans_[step] = std::make_shared<StepPlan>(context_, trace_, assignment_, step, on_member_done_);
  const Attendance attendance = presence_.attendance(step);
  const auto plan = std::make_shared<StepPlan>(context_, trace_, attendance, step, on_member_done_);
  plans_[step] = plan;
  for (const int replica : attendance.lost) plan->on_failure_detected(replica);
  for (int replica = 0; replica < trace_.context.replicas; ++replica)
    if (presence_.is_ready_listener(replica, step)) plan->release(replica);
  return plan;
}

void StepPlans::close(int step) {
  for (auto plan = plans_.begin(); plan != plans_.end() && plan->first < step;) {
    if (!plan->second->is_finished()) {
      ++plan;
      continue;
    }
    count_sent(*plan->second);
    context_.clock.retire(plan->second);
    plan = plans_.erase(plan);
  }
}

void StepPlans::finish() {
  for (const auto& [step, plan] : plans_) count_sent(*plan);
}

// Of operations that may lose members, once nothing of them is sent any more: also what those sent who have
// no row, since they listened, were lost, or crashed when they were done.
void StepPlans::count_sent(const StepPlan& plan) {
  for (const ElasticExchange* run : plan.elastic_exchanges())
    for (const auto& [worker, bytes] : run->bytes_by_sender()) ledger_.send(worker, bytes);
}

std::vector<std::string> StepPlans::waiting() const {
  std::vector<std::string> lines;
  for (const auto& [step, plan] : plans_)
    for (std::string& line : plan->waiting()) lines.push_back(std::move(line));
  return lines;
}

// Each of these goes through a copy: what is done to a plan may end it.

void StepPlans::on_crash(int replica) {
  for (const auto& [step, plan] : Plans(plans_)) plan->on_crash(replica);
}

void StepPlans::on_failure_detected(int replica) {
  for (const auto& [step, plan] : Plans(plans_)) plan->on_failure_detected(replica);
}

// In all operations of a step or in none: it would have no state that lacks only some of them.
int StepPlans::on_listening(int replica, int first_step) {
  const Plans plans(plans_);
  for (const auto& [step, plan] : plans)
    if (step >= first_step && !plan->can_add(replica)) first_step = step + 1;
  for (const auto& [step, plan] : plans)
    if (step >= first_step && step < trace_.context.steps) plan->add_member(replica, true);
  return first_step;
}

void StepPlans::on_state_arrived(int replica) {
  for (const auto& [step, plan] : Plans(plans_))
    if (presence_.is_ready_listener(replica, step)) plan->release(replica);
}

void StepPlans::on_return(int replica, int first_step, Return as, bool) {
  if (as == Return::kApart) return;
  for (const auto& [step, plan] : Plans(plans_)) {
    if (step < first_step) continue;
    if (as == Return::kListener) plan->begin_contributing(replica);
    plan->add_member(replica, false);  // if it is none
  }
}

void StepPlans::on_resume(int replica, int first_step) {
  for (const auto& [step, plan] : Plans(plans_)) plan->on_resume(replica, first_step);
}

}  // namespace longhaul
