#include <fmt/core.h>

#include <cmath>
#include <stdexcept>

#include "core/base/ranges.h"
#include "planner/search.h"

namespace longhaul {
namespace {

// Times are sums of whole nanoseconds.
constexpr double kRounding = 1e-6;

}  // namespace

int inner_steps_of(const Evaluation& evaluation) {
  return std::max(1, evaluation.candidate.inner_steps);
}

bool is_no_worse(const Evaluation& a, const Evaluation& b, double tolerance) {
  const auto is_less_or_same = [&](double value, double other) { return value <= other * (1 + tolerance); };
  return inner_steps_of(a) <= inner_steps_of(b) && is_less_or_same(a.total_s(), b.total_s()) &&
         is_less_or_same(a.cost(), b.cost()) && is_less_or_same(a.bytes(), b.bytes());
}

double Evaluation::low_s() const {
  const double alone_s = compute_s + bubble_s, network_s = std::max(0., total_s() - alone_s);
  const double low = total_s() - residual * network_s - time.half_width_s;
  return std::min(total_s(), std::max(alone_s, low));
}

double Evaluation::high_s() const {
  return total_s() + residual * std::max(0., total_s() - compute_s - bubble_s) + time.half_width_s;
}

void expect_possible(const Evaluation& evaluation) {
  const double low = evaluation.low_s(), total = evaluation.total_s(), high = evaluation.high_s();
  const double least = (1 - kRounding) * evaluation.compute_s;
  if (total >= least && low >= least && low <= total && total <= high && std::isfinite(high) &&
      evaluation.utilization <= 1 + kRounding)
    return;
  throw std::logic_error(fmt::format(
      "{}: a plan that cannot be: {} s ({} to {}) with {} s of compute, {} % of the time",
      evaluation.candidate.words, total, low, high, evaluation.compute_s, 100 * evaluation.utilization));
}

bool dominates(const Evaluation& a, const Evaluation& b) {
  return is_no_worse(a, b, 0) && !is_no_worse(b, a, 0);
}

double ChoiceRule::excess(const Evaluation& evaluation) const {
  const double of_time = deadline_s ? evaluation.total_s() / *deadline_s - 1 : 0,
               of_money = budget ? evaluation.cost() / *budget - 1 : 0;
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
