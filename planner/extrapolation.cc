#include "planner/extrapolation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/csv.h"
#include "core/base/index.h"
#include "core/base/limits.h"

namespace longhaul {
namespace {

// Periods of a plan in which nothing is drawn; steps of one that exchanges often, whose windows take some
// exchanges to settle; and periods where groups are drawn.
constexpr int kPeriods = 4, kSteps = 16, kDrawnPeriods = 13;
// Clocks are whole nanoseconds.
constexpr double kEqual_s = 1e-8;

bool draws(const OperationPlan& plan) {
  return (plan.pipeline.has_stages() && plan.pipeline.routing == MicrobatchRouting::kRandom) ||
         std::any_of(plan.rules.begin(), plan.rules.end(), [](const OperationRule& rule) {
           return rule.grouping != Grouping::kEveryone && rule.grouping != Grouping::kTwoLevel;
         });
}

int unlike_periods(const OperationPlan& plan) {
  const int period = period_of(plan);
  return std::max(1, (settling_steps(plan) + period - 1) / period);
}

// So many periods after those that stand for none, and what is left over of the last period of all steps.
int whole_periods(const OperationPlan& plan, int wanted, int steps) {
  const std::int64_t period = period_of(plan), periods = wanted + unlike_periods(plan) - 1;
  return static_cast<int>(std::min<std::int64_t>(steps, periods * period + steps % period));
}

bool are_equal(double value, double other) {
  return std::abs(value - other) <= std::max(kEqual_s, 1e-9 * std::abs(value));
}

}  // namespace

int period_of(const OperationPlan& plan) {
  constexpr std::int64_t kLongest = kMostOfACount;
  std::int64_t period = 1;
  for (const OperationRule& rule : plan.rules)
    period = std::min(std::lcm(period, std::int64_t{rule.every} * std::max(1, rule.across_every)), kLongest);
  return static_cast<int>(period);
}

int settling_steps(const OperationPlan& plan) {
  int steps = 0;
  for (const OperationRule& rule : plan.rules)
    steps = std::max({steps, rule.first_step > 1 ? rule.first_step : 0, rule.last_step});
  return steps;
}

int steps_to_replay(const OperationPlan& plan, int steps) {
  return whole_periods(plan, draws(plan) ? kDrawnPeriods : std::max(kPeriods, kSteps / period_of(plan)),
                       steps);
}

int steps_to_screen(const OperationPlan& plan, int steps) {
  return whole_periods(plan, draws(plan) ? kPeriods : 2, steps);
}

TrainingTime training_time(const std::vector<double>& clock_s, double end_s, int period, int unlike,
                           int replayed, int steps) {
  TrainingTime time;
  time.total_s = time.replayed_s = end_s;
  time.replayed_steps = replayed;
  time.outer_steps = static_cast<int>(clock_s.size());
  time.is_exact = replayed >= steps;
  const std::size_t count = clock_s.size(), first = as_index(unlike);
  if (time.is_exact || count < first + 1) return time;
  const double periods = static_cast<double>(steps - replayed) / period;
  const auto length = [&](std::size_t of) { return clock_s[of] - clock_s[of - 1]; };
  if (count < first + 2 || are_equal(length(count - 1), length(count - 2))) {
    time.is_exact = count >= first + 2;
    time.total_s += periods * length(count - 1);
    return time;
  }
  const auto alike = static_cast<double>(count - first);
  const double mean = (clock_s.back() - clock_s[first - 1]) / alike;
  double squares = 0;
  for (std::size_t i = first; i < count; ++i) squares += std::pow(length(i) - mean, 2);
  time.total_s += periods * mean;
  time.standard_error_s = periods * std::sqrt(squares / (alike - 1) / alike);
  return time;
}

TrainingTime training_time(const std::string& case_folder, const OperationPlan& plan, int replayed,
                           int steps) {
  const int period = period_of(plan);
  std::vector<double> clock_s(as_index(replayed / period));
  double end_s = 0;
  for (CsvStream rows(case_folder + "/steps.csv", {"step", "done_s"}); rows.next();) {
    const std::int64_t step = rows.step(0);
    const double done_s = rows.number(1);
    end_s = std::max(end_s, done_s);
    if (step % period != 0 || step / period > static_cast<std::int64_t>(clock_s.size()) || step == 0)
      continue;
    double& clock = clock_s[static_cast<std::size_t>(step / period) - 1];
    clock = std::max(clock, done_s);
  }
  return training_time(clock_s, end_s, period, unlike_periods(plan), replayed, steps);
}

}  // namespace longhaul
