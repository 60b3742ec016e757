#include "planner/exchange_turns.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/index.h"
#include "core/base/ranges.h"
#include "core/plan/program.h"

namespace longhaul {
namespace {

bool may_take_turns(const OperationRule& rule) {
  return rule.kind != OperationKind::kMerge && rule.grouping == Grouping::kEveryone &&
         rule.completion.is_all() && rule.overlap_backward == 0;
}

// Steps at which the plan posts or awaits something.
bool has_work(const OperationPlan& plan, int steps, int step) {
  return any_of(plan.rules, [&](const OperationRule& rule) {
    return is_posted_at(rule, steps, step) || is_posted_at(rule, steps, step - rule.overlap_steps);
  });
}

// From the step before which all is over to the one after which the turn is posted.
int gap_before(const std::vector<Turn>& turns, std::size_t number) {
  return turns[number].post_step - (number == 0 ? 0 : turns[number - 1].await_step);
}

bool is_over_before_the_next(const std::vector<ExchangeSpan>& spans, double least_silence_s) {
  for (std::size_t i = 1; i < spans.size(); ++i)
    if (spans[i].first_ready_s < spans[i - 1].last_done_s + least_silence_s) return false;
  return true;
}

const std::vector<double>& clocks_after(const ReplayedTimes& times, const std::vector<int>& kept, int step) {
  const auto place = std::lower_bound(kept.begin(), kept.end(), step);
  return times.clocks.of_periods.at(static_cast<std::size_t>(place - kept.begin()));
}

// The last clocks are those of the end, and no period's.
ReplayedTimes times_of_clocks(std::vector<std::vector<double>> clocks_s, double compute_s) {
  ReplayedTimes times;
  for (const double clock_s : clocks_s.back()) {
    times.clocks.end_s = std::max(times.clocks.end_s, clock_s);
    ReplicaTotals& of = times.totals.emplace_back();
    of.compute_s = compute_s;
    of.clock_s = clock_s;
    of.idle_s = clock_s - compute_s;
  }
  clocks_s.pop_back();
  times.clocks.of_periods = std::move(clocks_s);
  return times;
}

}  // namespace

std::optional<std::vector<Turn>> turns_of(const OperationPlan& plan, int steps) {
  if (plan.pipeline.has_stages() || !plan.step_graph.is_empty() || plan.takes_whole_batch ||
      plan.dynamic_steps.is_on() || !std::all_of(plan.rules.begin(), plan.rules.end(), may_take_turns))
    return std::nullopt;
  std::vector<Turn> turns;
  bool is_open = false;
  for (int step = 1; step <= steps; ++step) {
    if (!has_work(plan, steps, step)) continue;
    for (const Instruction& instruction : program_of_step(plan, steps, step).instructions) {
      if (instruction.kind == Instruction::Kind::kPost) {
        if (is_open) return std::nullopt;
        turns.push_back({instruction.rule, step, 0});
        is_open = true;
      } else if (instruction.kind == Instruction::Kind::kAwait) {
        if (!is_open || turns.back().rule != instruction.rule) return std::nullopt;
        turns.back().await_step = step;
        is_open = false;
      }
    }
  }
  return turns;
}

bool are_same_turns(const std::vector<Turn>& base, const std::vector<Turn>& others) {
  if (others.size() > base.size()) return false;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const Turn &one = base[i], &other = others[i];
    const int gap = gap_before(base, i), other_gap = gap_before(others, i);
    if (one.rule != other.rule || one.await_step - one.post_step != other.await_step - other.post_step ||
        (gap == 0) != (other_gap == 0) || (i > 0 && other_gap < gap))
      return false;
  }
  return true;
}

std::vector<int> steps_of_turns(const std::vector<Turn>& turns) {
  std::vector<int> steps;
  for (const Turn& turn : turns)
    if (steps.empty() || steps.back() != turn.await_step) steps.push_back(turn.await_step);
  return steps;
}

std::optional<std::vector<std::vector<double>>> waits_of(const ReplayedTimes& base,
                                                         const std::vector<int>& kept,
                                                         const std::vector<Turn>& turns, int steps,
                                                         double least_silence_s) {
  if (base.exchanges.size() != turns.size() || !is_over_before_the_next(base.exchanges, least_silence_s))
    return std::nullopt;
  const double step_s = base.totals.front().compute_s / steps;
  for (const ReplicaTotals& of : base.totals)
    if (std::abs(of.compute_s / steps - step_s) > 1e-12 * step_s) return std::nullopt;
  std::vector<std::vector<double>> waits_s;
  for (const Turn& turn : turns) {
    std::vector<double>& of_workers = waits_s.emplace_back(clocks_after(base, kept, turn.await_step));
    for (double& clock_s : of_workers) clock_s -= turn.await_step * step_s;
  }
  return waits_s;
}

ReplayedTimes times_with(const std::vector<std::vector<double>>& waits_s, const std::vector<Turn>& turns,
                         double step_s, const std::vector<int>& wanted) {
  std::vector<std::vector<double>> clocks_s;
  std::size_t over = 0;
  for (const int step : wanted) {
    while (over < turns.size() && turns[over].await_step <= step) ++over;
    std::vector<double>& of_workers = clocks_s.emplace_back(waits_s.front().size(), step * step_s);
    for (std::size_t worker = 0; over > 0 && worker < of_workers.size(); ++worker)
      of_workers[worker] += waits_s[over - 1][worker];
  }
  return times_of_clocks(std::move(clocks_s), wanted.back() * step_s);
}

ReplayedTimes beginning_of(const ReplayedTimes& whole, const std::vector<int>& kept, int steps,
                           const std::vector<int>& wanted) {
  std::vector<std::vector<double>> clocks_s;
  for (const int step : wanted) clocks_s.push_back(clocks_after(whole, kept, step));
  const double share = static_cast<double>(wanted.back()) / steps;
  return times_of_clocks(std::move(clocks_s), whole.totals.front().compute_s * share);
}

}  // namespace longhaul
