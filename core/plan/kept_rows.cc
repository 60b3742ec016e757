#include "core/plan/kept_rows.h"

#include <algorithm>

namespace longhaul {

namespace {

template <typename Is>
bool is_any_codec(const OperationPlan& plan, const Is& is) {
  return std::any_of(plan.rules.begin(), plan.rules.end(), [&is](const OperationRule& rule) {
    return std::any_of(rule.payload.begin(), rule.payload.end(),
                       [&is](const PayloadPart& part) { return is(part.codec); });
  });
}

}  // namespace

bool feeds_back(const OperationPlan& plan, Feedback kind) {
  return is_any_codec(plan, [kind](const Codec& codec) { return codec.feedback == kind; });
}

bool has_servers(const OperationPlan& plan) {
  return is_any_codec(plan, [](const Codec& codec) { return codec.reduction == Reduction::kServers; });
}

std::vector<std::string> kept_rows(const OperationPlan& plan) {
  std::vector<std::string> rows = plan.keeps;
  const bool keeps_mean = feeds_back(plan, Feedback::kEf21);
  if (keeps_mean || feeds_back(plan, Feedback::kClassic)) rows.push_back(kErrorRow);
  if (keeps_mean) rows.push_back(kSentMeanRow);
  if (has_servers(plan)) rows.push_back(kServerErrorRow);
  return rows;
}

}  // namespace longhaul
