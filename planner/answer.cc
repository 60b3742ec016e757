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

Answer answer_of(const PlanResult& result) {
  const Evaluation& choice = result.choice();
  const auto cost_of = [&](double total_s) {
    return choice.cost() + (total_s - choice.total_s()) / 3600 * choice.price_per_hour;
  };
  Answer answer;
  answer.time = {choice.total_s(), choice.low_s(), choice.high_s()};
  if (is_verified(result)) answer.time = verified_range(result);
  const double behind_fifos_s = answer.time.mean_s;
  if (!result.faulty.empty()) answer.time = result.faulty.front().time();
  answer.cost = cost_of(answer.time.mean_s);
  answer.is_longest_behind_fifos = is_verified(result) && behind_fifos_s >= answer.time.mean_s;
  answer.longest_s = answer.is_longest_behind_fifos ? behind_fifos_s : answer.time.mean_s;
  answer.highest_cost = cost_of(answer.longest_s);
  return answer;
}

}  // namespace longhaul
