#include "planner/replay_task.h"

#include <utility>

#include "core/base/errors.h"
#include "methods/common/registry.h"
#include "planner/extrapolation.h"
#include "replay/predict/estimate.h"
#include "replay/replay.h"

namespace longhaul {

ReplayTask first_steps(Case config, int steps, const std::string& fidelity, const std::string& name) {
  config.workload.steps = steps;
  config.network.fidelity = fidelity;
  Json& resolved = config.resolved;
  resolved["workload"].erase("total_tokens");
  resolved["workload"]["steps"] = steps;
  resolved["network"]["fidelity"] = fidelity;
  // Found once, and not again by each child.
  if (!config.network.rank_order.places.empty())
    resolved["network"]["rank_order"] = config.network.rank_order.places;
  ReplayTask task{name, std::move(config), {}};
  task.trace = trace_of(task.config);
  const int length = periods_of(task.trace.plan, task.config.replicas).length;
  for (int step = length; step <= steps; step += length) task.kept.push_back(step);
  return task;
}

TrainingTime training_time(const ReplayTask& task, const Periods& periods, int steps) {
  if (!task.times) throw RunError(task.name + ": " + task.error);
  return training_time(task.times->clocks, periods, task.config.steps(), steps);
}

void replay_here(ReplayTask& task, ProgressReporter& reporter) {
  try {
    KeptTimes kept(task.kept, task.config.steps());
    replay_alone(task.config, task.trace, kept, reporter);
    task.times = std::make_shared<const ReplayedTimes>(kept.take_times());
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    task.error = error.what();
  }
}

std::optional<int> settling_steps(const Case& config, const std::string& fidelity, const TrainingTime& time,
                                  int times) {
  const Periods periods = periods_of(config, plan_of(config));
  if (time.is_exact || periods.is_drawn()) return std::nullopt;
  const int steps = steps_to_settle(periods, times, config.steps());
  if (steps <= time.replayed_steps) return std::nullopt;
  const ReplayTask task = first_steps(config, steps, fidelity, "");
  if (estimate(task.config, task.trace).seconds > kSettling_s) return std::nullopt;
  return steps;
}

std::vector<TrainingTime> times_of(const std::vector<Case>& cases, const PlanTools& tools,
                                   const std::vector<std::string>& names, const std::string& phase) {
  std::vector<TrainingTime> times(cases.size());
  // Of so many steps of some of the cases.
  const auto replay = [&](const std::vector<std::pair<std::size_t, int>>& wanted) {
    std::vector<ReplayTask> tasks;
    for (const auto& [i, steps] : wanted)
      tasks.push_back(first_steps(cases[i], steps, cases[i].network.fidelity, names[i]));
    if (!tasks.empty()) tools.replay(tasks, phase);
    for (std::size_t of = 0; of < wanted.size(); ++of) {
      const Case& config = cases[wanted[of].first];
      times[wanted[of].first] =
          training_time(tasks[of], periods_of(config, tasks[of].trace.plan), config.steps());
    }
  };
  std::vector<std::pair<std::size_t, int>> wanted;
  for (std::size_t i = 0; i < cases.size(); ++i)
    wanted.emplace_back(i, steps_to_replay(periods_of(cases[i], plan_of(cases[i])), cases[i].steps()));
  replay(wanted);
  for (const int more : kSettlingTimes) {
    wanted.clear();
    for (std::size_t i = 0; i < cases.size(); ++i)
      if (const auto steps = settling_steps(cases[i], cases[i].network.fidelity, times[i], more))
        wanted.emplace_back(i, *steps);
    replay(wanted);
  }
  return times;
}

}  // namespace longhaul
