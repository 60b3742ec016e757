// How long plans take where nodes and sites fail: replays with the plan's faults, of several seeds.
//
// A draw replays as many steps as make kFaultsADraw of the rarest fault likely, or all. What it takes longer
// than the same steps without faults, as a share of these, holds for the whole training.
#include <algorithm>
#include <cmath>

#include "analysis/statistics.h"
#include "core/base/csv.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "methods/common/dynamic_steps.h"
#include "methods/common/registry.h"
#include "planner/plan_result.h"

namespace longhaul {
namespace {

constexpr double kFaultsADraw = 10;

Case with_faults(const PlanRequest& plan, const Evaluation& evaluation, int draw, const PlanTools& tools) {
  Json scenario = evaluation.candidate.scenario;
  for (const char* key : {"faults", "recovery"})
    if (plan.written.contains(key)) scenario[key] = plan.written[key];
  scenario["seed"] = plan.seed + static_cast<std::uint64_t>(draw);
  return tools.validated(scenario);
}

// Whole periods in which kFaultsADraw of the rarest fault are likely, or all steps.
int steps_of_draw(const Case& config, const Evaluation& evaluation) {
  double longest_s = 0;
  for (const Fault& fault : config.faults)
    longest_s = std::max(longest_s, fault.times.every_s + fault.times.for_s);
  const OperationPlan plan = plan_of(config);
  const double period_s = evaluation.total_s() / config.steps() * period_of(plan);
  const double periods = std::ceil(kFaultsADraw * longest_s / period_s);
  const int enough = steps_to_replay(plan, config.steps());
  return periods * period_of(plan) < config.steps()
             ? std::max(enough, static_cast<int>(periods) * period_of(plan))
             : config.steps();
}

// By how much longer as many useful steps take, as a share of what they take without faults.
double longer(const ReplayTask& task, double without_s) {
  const auto all = static_cast<double>(
      dynamic_steps_of(task.config).taken_by_all(task.config.replicas, task.config.steps()) *
      task.config.pipeline.stages);
  const bool may_lose = task.config.has_absences();
  double end_s = 0, useful = 0;
  for (CsvStream rows(task.folder + "/replicas.csv", {"clock_s", may_lose ? "useful_steps" : "clock_s"});
       rows.next();) {
    end_s = std::max(end_s, rows.number(0));
    useful += rows.number(1);
  }
  return end_s / without_s * (may_lose ? all / useful : 1) - 1;
}

}  // namespace

TimeRange FaultyTime::time() const {
  return {without.mean_s * (1 + longer), without.low_s * (1 + std::max(0., longer - half_width)),
          without.high_s * (1 + longer + half_width)};
}

std::vector<FaultyTime> faulty_times(const PlanRequest& plan, const SearchResult& search,
                                     const PlanTools& tools, std::vector<std::string>& notes) {
  std::vector<FaultyTime> times;
  if (!plan.written.contains("faults")) return times;
  std::vector<ReplayTask> tasks;
  for (const Evaluation* evaluation : best_of_each_method(search)) {
    try {
      for (int draw = 0; draw < plan.fault_draws; ++draw) {
        Case config = with_faults(plan, *evaluation, draw, tools);
        const int steps = steps_of_draw(config, *evaluation);
        const std::string fidelity = config.network.fidelity;
        tasks.push_back(first_steps(std::move(config), steps, fidelity, evaluation->candidate.words));
      }
      const double drawn_s = evaluation->total_s() * tasks.back().config.steps() / evaluation->config.steps();
      times.push_back({evaluation->candidate.words,
                       {evaluation->total_s(), evaluation->low_s(), evaluation->high_s()},
                       plan.fault_draws,
                       drawn_s,
                       0,
                       0});
    } catch (const InputError& error) {
      if (times.empty()) throw;  // of the choice
      notes.push_back(evaluation->candidate.method + " cannot meet the faults: " + error.parts().path + ": " +
                      error.parts().found);
    }
  }
  tools.replay(tasks, "faults");
  for (std::size_t i = 0; i < times.size(); ++i) {
    std::vector<double> all;
    for (int draw = 0; draw < plan.fault_draws; ++draw) {
      const ReplayTask& task = tasks[i * as_index(plan.fault_draws) + as_index(draw)];
      if (task.folder.empty()) throw RunError(task.name + ": " + task.error);
      all.push_back(longer(task, times[i].drawn_s));
    }
    times[i].longer = mean(all);
    times[i].half_width = (t_interval(all, 0.95).high - t_interval(all, 0.95).low) / 2;
  }
  return times;
}

}  // namespace longhaul
