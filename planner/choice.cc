
#include "planner/choice.h"

#include <fmt/core.h>

#include <cmath>

#include "core/base/ranges.h"
#include "planner/evaluation.h"
#include "planner/plan_request.h"

namespace longhaul {

bool is_no_worse(const Evaluation& a, const Evaluation& b, double tolerance) {
  const auto is_less_or_same = [&](double value, double other) { return value <= other * (1 + tolerance); };
  return inner_steps_of(a) <= inner_steps_of(b) && is_less_or_same(a.total_s(), b.total_s()) &&
         is_less_or_same(a.cost(), b.cost()) && is_less_or_same(a.bytes(), b.bytes());
}

std::string ChoiceRule::share_in_words(double utilization) const {
  constexpr int kMostDecimals = 3;
  for (int decimals = 0;; ++decimals) {
    const std::string share = fmt::format("{:.{}f}", 100 * utilization, decimals);
    if (utilization >= min_utilization || decimals == kMostDecimals ||
        share != fmt::format("{:.{}f}", 100 * min_utilization, decimals))
      return share + " %";
  }
}

bool dominates(const Evaluation& a, const Evaluation& b) {
  return is_no_worse(a, b, 0) && !is_no_worse(b, a, 0);
}

double ChoiceRule::excess(const Evaluation& evaluation) const {
  return excess(evaluation.total_s(), evaluation.cost());
}

double ChoiceRule::excess(double total_s, double cost) const {
  const double of_time = deadline_s ? total_s / *deadline_s - 1 : 0,
               of_money = budget ? cost / *budget - 1 : 0;
  return std::max({0., of_time, of_money});
}

bool ChoiceRule::is_better(const Evaluation& a, const Evaluation& b) const {
  if (excess(a) != excess(b)) return excess(a) < excess(b);
  if (keeps(a) != keeps(b)) return keeps(a);
  const auto times_apart = [&](double seconds) {
    const double apart = kSameToAPlanner * least_compute_s;
    return apart > 0 ? std::floor((seconds - least_compute_s) / apart) : seconds;
  };
  // In the order in which they count.
  const auto values = [&](const Evaluation& evaluation) {
    const double h = inner_steps_of(evaluation), time = evaluation.total_s(), money = evaluation.cost(),
                 bytes = evaluation.bytes();
    switch (prefer) {
      case Preference::kMoney:
        return std::vector<double>{money, time, bytes, h};
      case Preference::kBytes:
        return std::vector<double>{bytes, time, money, h};
      default:
        const bool is_fast = min_utilization > 0 && min_utilization * time <= least_compute_s;
        return std::vector<double>{
            is_fast ? 0. : 1., is_fast ? h : 0, times_apart(time), money, bytes, time, h};
    }
  };
  return values(a) < values(b);
}

std::vector<std::size_t> pareto_front(const std::vector<Evaluation>& all, const ChoiceRule& rule) {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].left_out.empty()) continue;
    const bool is_beaten = any_of(
        all, [&](const Evaluation& other) { return other.left_out.empty() && dominates(other, all[i]); });
    if (!is_beaten) front.push_back(i);
  }
  stable_sort(front, [&](std::size_t a, std::size_t b) { return rule.is_better(all[a], all[b]); });
  std::vector<std::size_t> kept;
  for (const std::size_t number : front)
    if (none_of(kept,
                [&](std::size_t better) { return is_no_worse(all[better], all[number], kSameToAPlanner); }))
      kept.push_back(number);
  return kept;
}

}  // namespace longhaul
