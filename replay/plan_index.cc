#include "replay/plan_index.h"

#include <algorithm>

#include "core/errors.h"

namespace longhaul {

bool PlanIndex::has_exchange(int step) const {
  const std::vector<OperationRule>& rules = trace_.plan.rules;
  return std::any_of(rules.begin(), rules.end(), [&](const OperationRule& rule) {
    return is_posted_at(rule, trace_.context.steps, step) ||
           is_posted_at(rule, trace_.context.steps, step - rule.overlap_steps);
  });
}

bool PlanIndex::releases_during_compute(int step) const {
  const std::vector<OperationRule>& rules = trace_.plan.rules;
  return std::any_of(rules.begin(), rules.end(), [&](const OperationRule& rule) {
    return rule.buckets > 1 && is_posted_at(rule, trace_.context.steps, step);
  });
}

int rule_index(const Trace& trace, const Operation& exchange) {
  return static_cast<int>(exchange.rule - trace.plan.rules.data());
}

void check_fit(const Case& one, const Trace& trace) {
  if (trace.context.replicas == one.replicas) return;
  throw InputError("replicas",
                   "the trace has " + std::to_string(trace.context.replicas) + " replicas, the case " +
                       std::to_string(one.replicas),
                   "the trace of this case");
}

}  // namespace longhaul
