#include "replay/engine/graph_steps.h"

#include <utility>

#include "replay/output/logged_network.h"

namespace longhaul {

GraphSteps::GraphSteps(const ExchangeContext& context, const Trace& trace, const StepTimes& times,
                       const SlowReplicas& slow, Workers& workers, Ledger& ledger, ReplayOutputs& outputs,
                       std::function<void(int worker)> on_done)
    : context_(context),
      trace_(trace),
      times_(times),
      slow_(slow),
      workers_(workers),
      ledger_(ledger),
      outputs_(outputs),
      on_done_(std::move(on_done)),
      groups_(trace.plan.step_graph, trace.context.replicas),
      first_rule_(first_row_of_step_graph(trace.plan)) {}

void GraphSteps::enter(int worker) {
  const int step = workers_.at(worker).step;
  at(step)->enter(worker, times_.seconds(worker, step));
}

std::shared_ptr<StepGraphRun> GraphSteps::at(int step) {
  std::shared_ptr<StepGraphRun>& run = runs_[step];
  if (run) return run;
  StepGraphRun::Watcher watcher;
  watcher.on_done = [this](int worker) { leave(worker); };
  watcher.pace = [this](int worker, double seconds) {
    return slow_.stretched_s(worker, workers_.now(), seconds);
  };
  watcher.on_sent = [this](int worker, std::int64_t bytes) { ledger_.send(worker, bytes); };
  watcher.on_collective = [this, step](const StepGraphRun::CollectiveTimes& times) {
    outputs_.add_collective(step, {times.collective, times.bytes, workers_.since_origin(times.start_s),
                                   workers_.since_origin(times.done_s)});
  };
  run = std::make_shared<StepGraphRun>(context_, trace_.plan.step_graph, groups_, step, first_rule_,
                                       std::move(watcher));
  return run;
}

void GraphSteps::leave(int worker) {
  const int step = workers_.at(worker).step;
  const std::shared_ptr<StepGraphRun> run = runs_.at(step);
  ledger_.end_tasks(worker, workers_.now(), run->computed_s(worker));
  if (run->is_over()) {
    transfers_ += run->transfers();
    outputs_.close_collectives(step);
    context_.clock.retire(run);
    runs_.erase(step);
  }
  on_done_(worker);
}

std::vector<std::string> GraphSteps::waiting() const {
  std::vector<std::string> lines;
  for (const auto& [step, run] : runs_)
    for (std::string& line : run->waiting()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace longhaul
