#include "planner/answer.h"

namespace longhaul {

TimeRange verified_range(const PlanResult& result) {
  const VerifiedTime& time = result.verification->plans.front();
  const double compute_s = result.choice().compute_s, residual = result.verification->residual;
  return {time.mean_s, compute_s + (1 - residual) * (time.low_s - compute_s),
          compute_s + (1 + residual) * (time.high_s - compute_s)};
}

bool is_verified(const PlanResult& result) {
  return result.verification && result.verification->is_replayed();
}

Answer answer_of(const PlanRequest& plan, const PlanResult& result) {
  const Evaluation& choice = result.choice();
  Answer answer{{choice.total_s(), choice.low_s(), choice.high_s()}, choice.cost()};
  if (result.faulty.empty() && !is_verified(result)) return answer;
  answer.time = !result.faulty.empty() ? result.faulty.front().time() : verified_range(result);
  answer.cost += (answer.time.mean_s - choice.total_s()) / 3600 * price_per_hour(plan);
  return answer;
}

}  // namespace longhaul
