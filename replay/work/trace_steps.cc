#include "replay/work/trace_steps.h"

#include <algorithm>
#include <cstdint>
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

int next_exchange(const Trace& trace, int step) {
  std::int64_t next = std::int64_t{trace.context.steps} + 1;
  for (const OperationRule& rule : trace.plan.rules) {
    // What a merge has taken up may be there from then on.
    if (rule.kind == OperationKind::kMerge)
      next = std::min(next, std::max<std::int64_t>(step, std::int64_t{rule.overlap_steps} + 1));
    for (const int overlap : {0, rule.overlap_steps})
      if (const std::int64_t posted = next_post_step(rule, trace.context.steps, step - overlap); posted > 0)
        next = std::min(next, posted + overlap);
  }
  return static_cast<int>(next);
}

bool releases_during_compute(const Trace& trace, int step) {
  const std::vector<OperationRule>& rules = trace.plan.rules;
  return std::any_of(rules.begin(), rules.end(), [&](const OperationRule& rule) {
    return left_at_release(rule, 0) > 0 && is_posted_at(rule, trace.context.steps, step);
  });
}

}  // namespace longhaul
