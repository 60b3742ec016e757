#include "replay/plan_index.h"

#include <algorithm>

#include "core/errors.h"

namespace longhaul {

bool PlanIndex::posts(int step) const {
  return std::any_of(trace_.plan.rules.begin(), trace_.plan.rules.end(),
                     [&](const ExchangeRule& rule) { return posts(rule, step); });
}

bool PlanIndex::posts(const ExchangeRule& rule, int step) const {
  return is_posted_at(rule, trace_.context.steps, step);
}

bool PlanIndex::has_exchange(int step) const {
  return posts(step) ||
         std::any_of(trace_.plan.rules.begin(), trace_.plan.rules.end(), [&](const ExchangeRule& rule) {
           return is_posted_at(rule, trace_.context.steps, step - rule.overlap_steps);
         });
}

int rule_index(const Trace& trace, const Exchange& exchange) {
  return static_cast<int>(exchange.rule - trace.plan.rules.data());
}

void check_fit(const Case& one, const Trace& trace) {
  if (trace.context.replicas == one.replicas) return;
  throw InputError({"", "replicas",
                    "the trace has " + std::to_string(trace.context.replicas) + " replicas, the case " +
                        std::to_string(one.replicas),
                    "the trace of this case", ""});
}

}  // namespace longhaul
