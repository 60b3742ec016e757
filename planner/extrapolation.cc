#include "planner/extrapolation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/statistics.h"
#include "core/base/index.h"
#include "core/base/limits.h"

namespace longhaul {
namespace {

// Steps of a plan that exchanges often, whose windows take some exchanges to settle.
constexpr int kSteps = 16;
// Outer steps where chance decides who meets whom: it takes some until the slow replicas have met all others,
// and then a mean. Of few replicas more, since they cost little: so many replicas' outer steps. Other draws
// come anew with each step or message.
constexpr int kDrawnOuterSteps = 100, kDrawnOfReplicas = 20000, kScreenedOuterSteps = 40;
constexpr int kLeastDrawnPeriods = 16, kDrawnPeriods = 32;
// A pipeline's stages send in each inner step: half a minute of one core (75 k messages a second,
// measured).
constexpr double kStageMessages = 2e6;
constexpr int kBlocks = 8;
// Clocks are whole nanoseconds.
constexpr double kEqual_s = 1e-8;

// Whether the network sees what chance decides. Of two replicas the other one is the partner, and where all
// send alike it does not matter who is named first.
bool draws_groups(const OperationRule& rule, int replicas) {
  if (rule.grouping == Grouping::kTargets) return replicas > 2 && rule.target_graph != TargetGraph::kRing;
  return (rule.grouping == Grouping::kRandom || rule.grouping == Grouping::kSites) &&
         (replicas > 2 || rule.collective != "pair");
}

// To replay, of partners that are drawn every `every` steps.
std::int64_t drawn_outer_steps(const OperationPlan& plan, int replicas, std::int64_t every) {
  const int most = std::max(kDrawnOuterSteps, kDrawnOfReplicas / std::max(1, replicas));
  if (!plan.pipeline.has_stages()) return most;
  const double messages = 2. * replicas * plan.pipeline.microbatches * plan.pipeline.hops_of_microbatch() *
                          static_cast<double>(every);
  return std::clamp(static_cast<int>(kStageMessages / std::max(1., messages)), kLeastDrawnPeriods, most);
}

void add_draw(const char* what, bool is_drawn, Periods& periods) {
  if (!is_drawn) return;
  periods.drawn.emplace_back(what);
  periods.replays = std::max(periods.replays, kDrawnPeriods);
  periods.screens = std::max(periods.screens, kLeastDrawnPeriods);
}

// `wanted` after those that stand for none, and what is left over of the last period of all steps.
int whole_periods(const Periods& periods, int wanted, int steps) {
  const std::int64_t length = periods.length, count = wanted + periods.unlike() - 1;
  return static_cast<int>(std::min<std::int64_t>(steps, count * length + steps % length));
}

bool are_equal(double value, double other) {
  return std::abs(value - other) <= std::max(kEqual_s, 1e-9 * std::abs(value));
}

// Whether the last two periods are equal to each replica, and, where they wait for each other, among them.
bool is_steady(const std::vector<std::vector<double>>& clock_s, bool wait_for_each_other) {
  const std::size_t last = clock_s.size() - 1;
  const auto period_s = [&](std::size_t of, std::size_t replica) {
    return clock_s[of][replica] - clock_s[of - 1][replica];
  };
  for (std::size_t replica = 0; replica < clock_s[last].size(); ++replica)
    if (!are_equal(period_s(last, replica), period_s(last - 1, replica)) ||
        (wait_for_each_other && !are_equal(period_s(last, replica), period_s(last, 0))))
      return false;
  return true;
}

// The latest clock after `rest` more periods, each replica at its own pace of the last one.
double latest_s(const std::vector<std::vector<double>>& clock_s, double rest) {
  const std::size_t last = clock_s.size() - 1;
  double latest = 0;
  for (std::size_t replica = 0; replica < clock_s[last].size(); ++replica)
    latest = std::max(latest,
                      clock_s[last][replica] + rest * (clock_s[last][replica] - clock_s[last - 1][replica]));
  return latest;
}

double latest_s(const std::vector<double>& of_replicas) {
  return *std::max_element(of_replicas.begin(), of_replicas.end());
}

// The pace of all replicas in the periods from `first` on, and how far totals may be off.
struct Pace {
  double period_s = 0;
  double deviation_s = 0;  // of one period, as if none depended on another, times Student's t for 95 %
  int periods = 0;

  // Of `drawn` periods that come by chance, of which the mean stands for `rest`.
  double half_width_s(double rest, double drawn) const {
    return periods > 0 ? deviation_s * std::sqrt(rest * rest / periods + drawn) : 0;
  }
};

Pace pace_of(const std::vector<double>& mean_s, std::size_t first) {
  std::vector<double> blocks;
  const std::size_t count = mean_s.size() - 1 - first, each = std::max<std::size_t>(1, count / kBlocks);
  // Blocks end at the last period; what is left over is at the beginning.
  for (std::size_t end = mean_s.size() - 1; end >= first + each; end -= each)
    blocks.push_back((mean_s[end] - mean_s[end - each]) / static_cast<double>(each));
  Pace pace;
  pace.periods = static_cast<int>(blocks.size() * each);
  pace.period_s = mean(blocks);
  const Interval interval = t_interval(blocks, 0.95);
  pace.deviation_s = (interval.high - interval.low) / 2 * std::sqrt(pace.periods);
  return pace;
}

// Twice that of the mean period from the first half of those from `first` on to the second.
double change_of(const std::vector<double>& clock_s, std::size_t first) {
  const std::size_t last = clock_s.size() - 1, half = (last - first) / 2;
  if (half == 0) return 0;
  const double before_s = clock_s[first + half] - clock_s[first],
               after_s = clock_s[last] - clock_s[last - half];
  return 2 * std::abs(after_s - before_s) / static_cast<double>(half);
}

}  // namespace

Periods periods_of(const OperationPlan& plan, int replicas) {
  constexpr std::int64_t kLongest = kMostOfACount;
  Periods periods;
  std::int64_t length = 1, often = kLongest;
  for (const OperationRule& rule : plan.rules) {
    std::int64_t every = std::int64_t{rule.every} * std::max(1, rule.across_every);
    if (rule.grouping == Grouping::kGrid) every *= std::max(1, grid_dimensions(replicas, rule.group_size));
    length = std::min(std::lcm(length, every), kLongest);
    if (draws_groups(rule, replicas)) often = std::min<std::int64_t>(often, rule.every);
    periods.settling =
        std::max({periods.settling, rule.first_step > 1 ? rule.first_step : 0, rule.last_step});
  }
  periods.length = static_cast<int>(length);
  periods.wait_for_all =
      !plan.rules.empty() && std::all_of(plan.rules.begin(), plan.rules.end(),
                                         [](const OperationRule& rule) { return rule.completion.is_all(); });
  periods.replays = std::max(periods.replays, kSteps / periods.length);
  const auto any = [&](auto is_so) { return std::any_of(plan.rules.begin(), plan.rules.end(), is_so); };
  if (any([&](const OperationRule& rule) { return draws_groups(rule, replicas); })) {
    periods.drawn.emplace_back("partners");
    const auto in_periods = [&](std::int64_t outer_steps) {
      return static_cast<int>(std::max<std::int64_t>(kLeastDrawnPeriods, outer_steps * often / length));
    };
    periods.replays = in_periods(drawn_outer_steps(plan, replicas, often));
    periods.screens = in_periods(kScreenedOuterSteps);
  }
  add_draw("the owners of units", any([](const OperationRule& rule) { return !rule.units.empty(); }),
           periods);
  add_draw("the paths of micro-batches",
           plan.pipeline.has_stages() && plan.pipeline.routing == MicrobatchRouting::kRandom, periods);
  return periods;
}

Periods periods_of(const Case& config, const OperationPlan& plan) {
  Periods periods = periods_of(plan, config.replicas);
  const NetworkSpec& network = config.network;
  const VariationSpec& variation = network.variation;
  const bool is_drawn_background =
      std::any_of(variation.background.begin(), variation.background.end(),
                  [](const BackgroundSpec& background) { return background.on_s.has_value(); });
  add_draw("step times", config.workload.step_time.kind != StepTime::Kind::kConstant, periods);
  add_draw("times of messages", network.message_time && network.message_time->std > 0, periods);
  add_draw("lost packets", network.tcp.loss > 0 && network.fidelity != "analytic", periods);
  add_draw(
      "the network's changes with time",
      variation.has_jitter() || is_drawn_background || !variation.traces.empty() || !variation.faults.empty(),
      periods);
  add_draw("faults", !config.faults.empty(), periods);
  return periods;
}

int steps_to_replay(const Periods& periods, int steps) {
  return whole_periods(periods, periods.replays, steps);
}

int steps_to_settle(const Periods& periods, int times, int steps) {
  return whole_periods(periods, times * periods.replays, steps);
}

int steps_to_screen(const Periods& periods, int steps) {
  return whole_periods(periods, periods.screens, steps);
}

TrainingTime training_time(const ReplayedClocks& clocks, const Periods& periods, int replayed, int steps) {
  const std::vector<std::vector<double>>& clock_s = clocks.of_periods;
  TrainingTime time;
  time.total_s = time.replayed_s = clocks.end_s;
  time.replayed_steps = replayed;
  time.outer_steps = static_cast<int>(clock_s.size());
  const double rest = static_cast<double>(steps - replayed) / periods.length;
  const std::size_t count = clock_s.size(), unlike = as_index(periods.unlike());
  if (!periods.is_drawn()) {
    time.is_exact = rest == 0 || (count >= unlike + 2 && is_steady(clock_s, periods.wait_for_all));
    if (time.is_exact) {
      if (rest > 0) time.total_s += latest_s(clock_s, rest) - latest_s(clock_s.back());
      return time;
    }
  }
  if (count < unlike + 1) return time;  // all steps, as rules of methods demand two periods at least
  std::vector<double> latest, means;
  for (const std::vector<double>& of_replicas : clock_s) {
    latest.push_back(latest_s(of_replicas));
    means.push_back(mean(of_replicas));
  }
  // It takes some periods until the slow replicas have met all others.
  const std::size_t first = std::max(unlike, count / 5) - 1;
  const Pace of_latest = pace_of(latest, first), of_means = pace_of(means, first);
  // Clocks that wait for each other come to one pace, and draws differ less in their mean. Without draws the
  // slower pace counts: the latest clock may not have met the slow ones yet, or the others may still settle.
  const bool by_mean = periods.wait_for_all && (periods.is_drawn() || of_means.period_s > of_latest.period_s);
  const Pace& pace = by_mean ? of_means : of_latest;
  std::vector<double> ahead;  // of the latest clock before the one that sets the pace
  for (std::size_t period = first; period < count; ++period)
    ahead.push_back(latest[period] - (by_mean ? means : latest)[period]);
  const double drawn = periods.is_drawn() ? rest + static_cast<double>(count) : rest;
  time.half_width_s = pace.half_width_s(rest, drawn);
  if (!periods.is_drawn())
    time.half_width_s = std::max(time.half_width_s, rest * change_of(by_mean ? means : latest, first));
  if (rest == 0) return time;
  // The replay may end while one replica is far ahead; the training ends as replays do on average.
  const Interval mean_ahead = t_interval(ahead, 0.95);
  time.total_s = clocks.end_s + rest * pace.period_s + mean(ahead) - ahead.back();
  const double half = (mean_ahead.high - mean_ahead.low) / 2 * std::sqrt(static_cast<double>(ahead.size()));
  time.half_width_s = std::hypot(time.half_width_s, half);
  return time;
}

}  // namespace longhaul
