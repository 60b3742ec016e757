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

bool has_servers(const OperationPlan& plan) {
  return is_any_codec(plan, [](const Codec& codec) { return codec.reduction == Reduction::kServers; });
}

std::vector<std::string> kept_rows(const OperationPlan& plan) {
  std::vector<std::string> rows = plan.keeps;
  if (is_any_codec(plan, [](const Codec& codec) { return codec.feedback != Feedback::kNone; }))
    rows.push_back(kErrorRow);
  if (has_servers(plan)) rows.push_back(kServerErrorRow);
  return rows;
}

}  // namespace longhaul
