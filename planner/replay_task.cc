#include "planner/replay_task.h"

#include <utility>

#include "core/base/errors.h"
#include "methods/common/registry.h"
#include "planner/extrapolation.h"
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

std::vector<TrainingTime> times_of(const std::vector<Case>& cases, const PlanTools& tools,
                                   const std::vector<std::string>& names, const std::string& phase) {
  std::vector<ReplayTask> tasks;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Periods periods = periods_of(cases[i], plan_of(cases[i]));
    tasks.push_back(first_steps(cases[i], steps_to_replay(periods, cases[i].steps()),
                                cases[i].network.fidelity, names[i]));
  }
  tools.replay(tasks, phase);
  std::vector<TrainingTime> times;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    times.push_back(training_time(tasks[i], periods_of(cases[i], tasks[i].trace.plan), cases[i].steps()));
  }
  return times;
}

}  // namespace longhaul
