#include "replay/work/trace_steps.h"

#include <algorithm>
#include <utility>

namespace longhaul {

int worker_count(const Trace& trace) {
  return trace.context.replicas * trace.plan.pipeline.stages;
}

std::vector<int> workers_of(const OperationPlan& plan, const OperationRule& rule, std::vector<int> group) {
  if (rule.stage >= 0)
    for (int& member : group) member = worker_of(member, rule.stage, plan.pipeline.stages);
  return group;
}

bool has_exchange(const Trace& trace, int step) {
  const std::vector<OperationRule>& rules = trace.plan.rules;
  return std::any_of(rules.begin(), rules.end(), [&](const OperationRule& rule) {
    const bool may_take_up = rule.kind == OperationKind::kMerge && step > rule.overlap_steps;
    return may_take_up || is_posted_at(rule, trace.context.steps, step) ||
           is_posted_at(rule, trace.context.steps, step - rule.overlap_steps);
  });
}

bool releases_during_compute(const Trace& trace, int step) {
  const std::vector<OperationRule>& rules = trace.plan.rules;
  return std::any_of(rules.begin(), rules.end(), [&](const OperationRule& rule) {
    return left_at_release(rule, 0) > 0 && is_posted_at(rule, trace.context.steps, step);
  });
}

}  // namespace longhaul
