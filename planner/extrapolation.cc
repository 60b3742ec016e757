#include "planner/extrapolation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/run_files.h"
#include "core/index.h"

namespace longhaul {
namespace {

// Periods of a plan in which nothing is drawn; steps of one that exchanges often, whose windows take some
// exchanges to settle; and periods where groups are drawn.
constexpr int kPeriods = 4, kSteps = 40, kDrawnPeriods = 12;
// Clocks are whole nanoseconds.
constexpr double kEqual_s = 1e-8;

bool draws(const OperationPlan& plan) {
  return std::any_of(plan.rules.begin(), plan.rules.end(),
                     [](const OperationRule& rule) { return rule.grouping != Grouping::kEveryone; });
}

bool are_equal(double one, double other) {
  return std::abs(one - other) <= std::max(kEqual_s, 1e-9 * std::abs(one));
}

}  // namespace

int period_of(const OperationPlan& plan) {
  std::int64_t period = 1;
  for (const OperationRule& rule : plan.rules)
    period = std::min<std::int64_t>(std::lcm(period, std::int64_t{rule.every}), 1'000'000'000);
  return static_cast<int>(period);
}

int steps_to_replay(const OperationPlan& plan, int steps) {
  const std::int64_t period = period_of(plan);
  const std::int64_t wanted = draws(plan) ? kDrawnPeriods : kPeriods;
  const std::int64_t periods = std::max(wanted, kSteps / period);
  return static_cast<int>(std::min<std::int64_t>(steps, periods * period + steps % period));
}

TrainingTime training_time(const std::vector<double>& clock_s, double end_s, int period, int replayed,
                           int steps) {
  TrainingTime time;
  time.total_s = time.replayed_s = end_s;
  time.replayed_steps = replayed;
  time.outer_steps = static_cast<int>(clock_s.size());
  time.is_exact = replayed >= steps;
  if (time.is_exact || clock_s.size() < 2) return time;
  const double periods = static_cast<double>(steps - replayed) / period;
  const std::size_t count = clock_s.size();
  const double last = clock_s[count - 1] - clock_s[count - 2];
  if (count < 3 || are_equal(last, clock_s[count - 2] - clock_s[count - 3])) {
    time.is_exact = count >= 3;
    time.total_s += periods * last;
    return time;
  }
  // All but the first, in which connections begin.
  const auto differences = static_cast<double>(count - 1);
  const double mean = (clock_s.back() - clock_s.front()) / differences;
  double squares = 0;
  for (std::size_t i = 1; i < count; ++i) squares += std::pow(clock_s[i] - clock_s[i - 1] - mean, 2);
  time.total_s += periods * mean;
  time.standard_error_s = periods * std::sqrt(squares / (differences - 1) / differences);
  return time;
}

TrainingTime training_time(const std::string& case_folder, int period, int replayed, int steps) {
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
  return training_time(clock_s, end_s, period, replayed, steps);
}

}  // namespace longhaul
