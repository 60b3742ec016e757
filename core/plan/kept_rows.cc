#include "core/plan/kept_rows.h"

#include <algorithm>

namespace longhaul {

bool feeds_back(const OperationPlan& plan, Feedback kind) {
  return std::any_of(plan.rules.begin(), plan.rules.end(), [kind](const OperationRule& rule) {
    return std::any_of(rule.payload.begin(), rule.payload.end(),
                       [kind](const PayloadPart& part) { return part.codec.feedback == kind; });
  });
}

std::vector<std::string> kept_rows(const OperationPlan& plan) {
  std::vector<std::string> rows = plan.keeps;
  const bool keeps_mean = feeds_back(plan, Feedback::kEf21);
  if (keeps_mean || feeds_back(plan, Feedback::kClassic)) rows.push_back(kErrorRow);
  if (keeps_mean) rows.push_back(kSentMeanRow);
  return rows;
}

}  // namespace longhaul
