#include "methods/common/stages.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/errors.h"
#include "methods/common/method.h"

namespace longhaul {
namespace {

// Where both have something; ranges in ascending order.
Columns common_columns(const Columns& a, const Columns& b) {
  Columns common;
  for (const ColumnRange& left : a)
    for (const ColumnRange& right : b)
      if (const ColumnRange both{std::max(left.begin, right.begin), std::min(left.end, right.end)};
          both.begin < both.end)
        common.push_back(both);
  std::sort(common.begin(), common.end(),
            [](const ColumnRange& x, const ColumnRange& y) { return x.begin < y.begin; });
  return common;
}

// False: the rule has nothing of this stage.
bool restrict(OperationRule& rule, int stage, const Columns& columns, const PlannedModel& model) {
  Payload payload;
  for (PayloadPart& part : rule.payload) {
    part.columns = common_columns(ranges_of(part.columns, model.parameters), columns);
    if (part.columns.empty()) continue;
    part.codec = part.codec.with_matrices([&] { return matrices_of(part.columns, model.layout); });
    payload.push_back(part);
  }
  rule.payload = std::move(payload);
  rule.stage = stage;
  rule.name += fmt::format(".stage{}", stage);
  return !rule.payload.empty();
}

}  // namespace

OperationPlan with_stages(OperationPlan plan, PipelinePlan pipeline, const PlannedModel& model) {
  plan.pipeline = std::move(pipeline);
  if (!plan.pipeline.has_stages()) return plan;
  std::vector<OperationRule> rules;
  for (const OperationRule& rule : plan.rules)
    for (int stage = 0; stage < plan.pipeline.stages; ++stage)
      if (OperationRule operation_rule = rule;
          restrict(operation_rule, stage, plan.pipeline.columns_of(stage), model))
        rules.push_back(std::move(operation_rule));
  plan.rules = std::move(rules);
  return plan;
}

}  // namespace longhaul
