#include "planner/coarse_estimate.h"

#include <algorithm>

namespace longhaul {

std::optional<CoarsePlan> coarse_plan(const Case& config, const OperationPlan& plan) {
  constexpr int kLeastSaved = 4;  // times fewer pieces in the larger of the two forms
  if (config.network.library != "plain" || plan.pipeline.has_stages() || plan.rules.empty())
    return std::nullopt;
  CoarsePlan coarse;
  for (const OperationRule& rule : plan.rules) {
    if (rule.kind != OperationKind::kAllReduce || !rule.is_of_everyone()) return std::nullopt;
    const Collective& collective = find_collective(rule.collective);
    const std::int64_t bytes = payload_bytes(rule, config.workload.parameters, config.replicas);
    const int pieces = collective.pieces({config.replicas, bytes});
    const std::vector<Collective::CoarseForm> forms = collective.coarse_forms();
    if (forms.size() != 2 || pieces < kLeastSaved * forms[1].pieces) return std::nullopt;
    coarse.forms = forms;
    coarse.pieces = coarse.pieces == 0 ? pieces : std::min(coarse.pieces, pieces);
  }
  return coarse;
}

// T = A + b / C.
CoarseTimes coarse_times(const CoarsePlan& coarse, double first_s, double second_s) {
  const double first = 1. / coarse.forms[0].pieces, second = 1. / coarse.forms[1].pieces;
  const double slope_s = (first_s - second_s) / (first - second);
  const double likely_s = second_s + slope_s * (1. / coarse.pieces - second);
  return {likely_s, std::min({likely_s, first_s, second_s})};
}

}  // namespace longhaul
