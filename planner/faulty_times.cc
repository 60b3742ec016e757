#include "planner/faulty_times.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/statistics.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/units.h"
#include "methods/common/dynamic_steps.h"
#include "methods/common/registry.h"
#include "planner/evaluation.h"
#include "planner/extrapolation.h"
#include "planner/plan_paths.h"
#include "planner/plan_request.h"
#include "planner/replay_task.h"
#include "planner/search.h"

namespace longhaul {
namespace {

constexpr double kFaultsADraw = 10;

Case of_draw(const PlanRequest& plan, const Evaluation& evaluation, int draw, bool has_faults,
             const PlanTools& tools) {
  Json scenario = evaluation.candidate.scenario;
  for (const char* key : {"faults", "recovery"})
    if (has_faults && plan.written.contains(key)) scenario[key] = plan.written[key];
  scenario["seed"] = plan.seed + static_cast<std::uint64_t>(draw);
  return tools.validated(scenario);
}

// Whole periods in which kFaultsADraw of the rarest fault are likely, or all steps.
int steps_of_draw(const Case& config, const Evaluation& evaluation) {
  double longest_s = 0;
  for (const Fault& fault : config.faults)
    longest_s = std::max(longest_s, fault.times.every_s + fault.times.for_s);
  const OperationPlan plan = plan_of(config);
  const Periods of_case = periods_of(evaluation.config, plan);
  const double period_s = evaluation.total_s() / config.steps() * of_case.length;
  const double periods = std::ceil(kFaultsADraw * longest_s / period_s);
  const int enough = steps_to_replay(of_case, config.steps());
  return periods * of_case.length < config.steps()
             ? std::max(enough, static_cast<int>(periods) * of_case.length)
             : config.steps();
}

double end_s(const ReplayTask& task) {
  double latest_s = 0;
  for (const ReplicaTotals& of : task.times->totals) latest_s = std::max(latest_s, of.clock_s);
  return latest_s;
}

// By how much longer as many useful steps take, as a share of what they take without faults.
double longer(const ReplayTask& task, double without_s) {
  const auto all = static_cast<double>(
      dynamic_steps_of(task.config).taken_by_all(task.config.replicas, task.config.steps()) *
      task.config.pipeline.stages);
  const bool may_lose = task.config.has_absences();
  double useful = may_lose ? 0 : all;
  if (may_lose)
    for (const ReplicaTotals& of : task.times->totals) useful += static_cast<double>(of.useful_steps);
  return end_s(task) / without_s * (all / useful) - 1;
}

}  // namespace

TimeRange FaultyTime::time() const {
  const auto at_least_0 = [](double share) { return 1 + std::max(0., share); };
  return {without.mean_s * at_least_0(longer), without.low_s * at_least_0(longer - half_width),
          without.high_s * at_least_0(longer + half_width)};
}

std::vector<FaultyTime> faulty_times(const PlanRequest& plan, const SearchResult& search,
                                     const PlanTools& tools, std::vector<std::string>& notes) {
  std::vector<FaultyTime> times;
  if (!plan.written.contains("faults")) return times;
  std::vector<ReplayTask> tasks;                     // of the draws, one evaluation after the other
  std::vector<std::optional<std::size_t>> baseline;  // by task: the number of the one without faults
  const auto add = [&](Case config, int steps, const std::string& name) {
    const std::string fidelity = config.network.fidelity;
    tasks.push_back(first_steps(std::move(config), steps, fidelity, name));
    baseline.emplace_back();
  };
  std::vector<std::vector<std::size_t>> of_times;  // numbers of tasks
  for (const Evaluation* evaluation : best_of_each_method(search)) {
    try {
      const bool is_drawn = periods_of(evaluation->config, plan_of(evaluation->config)).is_drawn();
      std::vector<std::size_t> draws;
      for (int draw = 0; draw < plan.fault_draws; ++draw) {
        Case config = of_draw(plan, *evaluation, draw, true, tools);
        const int steps = steps_of_draw(config, *evaluation);
        draws.push_back(tasks.size());
        add(std::move(config), steps, evaluation->candidate.words);
        if (!is_drawn) continue;
        baseline[draws.back()] = tasks.size();
        add(of_draw(plan, *evaluation, draw, false, tools), steps, evaluation->candidate.words);
      }
      const double drawn_s =
          evaluation->total_s() * tasks[draws[0]].config.steps() / evaluation->config.steps();
      of_times.push_back(draws);
      times.push_back({evaluation->candidate.words,
                       {evaluation->total_s(), evaluation->low_s(), evaluation->high_s()},
                       plan.fault_draws,
                       drawn_s,
                       0,
                       0});
    } catch (const InputError& of_scenario) {
      const InputError error = in_plan(of_scenario, plan, evaluation->candidate);
      if (times.empty()) throw error;  // of the choice
      notes.push_back(evaluation->candidate.method + " cannot meet the faults: " + error.parts().path + ": " +
                      error.parts().found);
    }
  }
  tools.replay(tasks, "faults");
  for (const ReplayTask& task : tasks)
    if (!task.times) throw RunError(task.name + ": " + task.error);
  for (std::size_t i = 0; i < times.size(); ++i) {
    std::vector<double> all;
    for (const std::size_t number : of_times[i]) {
      const double without_s = baseline[number] ? end_s(tasks[*baseline[number]]) : times[i].drawn_s;
      all.push_back(longer(tasks[number], without_s));
    }
    times[i].longer = mean(all);
    times[i].half_width = (t_interval(all, 0.95).high - t_interval(all, 0.95).low) / 2;
  }
  return times;
}

std::string faults_in_words(const std::vector<FaultyTime>& times) {
  std::string words =
      "The choice is made without faults; it and the best plan of each other method were then replayed with "
      "them.";
  const auto fastest = std::min_element(
      times.begin(), times.end(),
      [](const FaultyTime& a, const FaultyTime& b) { return a.time().mean_s < b.time().mean_s; });
  if (fastest == times.begin()) return words;
  const TimeRange best = fastest->time(), choice = times.front().time();
  return words + fmt::format(" With them {} takes {}, the choice {}{}.", fastest->words,
                             human_duration(best.mean_s), human_duration(choice.mean_s),
                             best.high_s < choice.low_s ? "" : ", and their ranges overlap");
}

}  // namespace longhaul
