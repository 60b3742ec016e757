#include "replay/engine/pipeline_steps.h"

#include <utility>

#include "replay/work/trace_steps.h"

namespace longhaul {

PipelineSteps::PipelineSteps(const PipelineSpec& spec, const ExchangeContext& context, const Trace& trace,
                             StageAssignment& assignment, const StepTimes& times, const SlowReplicas& slow,
                             Workers& workers, Ledger& ledger, ReplayOutputs& outputs, Watcher watcher)
    : context_(context),
      trace_(trace),
      assignment_(assignment),
      times_(times),
      slow_(slow),
      workers_(workers),
      ledger_(ledger),
      outputs_(outputs),
      watcher_(std::move(watcher)),
      wiring_(trace.context.replicas, trace.plan.pipeline.stages) {
  if (spec.rebalance_every == 0) return;
  outputs_.open_moves();
  rebalancing_.emplace(spec, context_, trace_, assignment_, wiring_,
                       [this](const MoveTimes& times_of_move) { end_move(times_of_move); });
}

void PipelineSteps::enter(int worker) {
  Worker& state = workers_.at(worker);
  if (state.step == 1)
    state.clocks.free_s = context_.clock.now_s();
  else
    state.clocks.free_s += workers_.now() - ledger_.computed_s(worker);  // exchanges
  at(state.step)->enter(worker, state.clocks);
  if (rebalancing_) rebalancing_->enter(worker, state.step);
}

std::shared_ptr<PipelineRun> PipelineSteps::at(int step) {
  std::shared_ptr<PipelineRun>& run = runs_[step];
  if (run) return run;
  PipelineRun::Watcher watcher;
  watcher.on_done = [this](int worker) { leave(worker); };
  watcher.on_last_pass = [this](int worker, double pass_s, double microbatch_s) {
    if (releases_during_compute(trace_, workers_.at(worker).step))
      watcher_.on_last_pass(worker, pass_s, microbatch_s);
  };
  watcher.on_task = [this, step](const TaskTimes& task) {
    outputs_.add_task(step, {task.worker, task.task, workers_.since_origin(task.begin_s),
                             workers_.since_origin(task.end_s)});
  };
  watcher.pace = [this](int worker, double seconds) {
    return slow_.stretched_s(worker, workers_.now(), seconds);
  };
  watcher.on_last_of_all = [this, step] {
    if (rebalancing_) end_passes(step);
  };
  run = std::make_shared<PipelineRun>(context_, trace_, times_, wiring_, assignment_, step, watcher);
  return run;
}

void PipelineSteps::end_passes(int step) {
  std::vector<double> busy_s;
  for (int worker = 0; worker < workers_.count(); ++worker)
    busy_s.push_back(runs_.at(step)->times(worker).compute_s);
  rebalancing_->end_passes(step, busy_s);
}

void PipelineSteps::end_move(MoveTimes times) {
  for (double* time_s : {&times.begin_s, &times.done_s}) *time_s = workers_.since_origin(*time_s);
  outputs_.add_move(times);
  ledger_.send(times.move.source, times.bytes);
  ++transfers_;
  runs_.at(workers_.at(times.move.worker).step)->wake(times.move.worker);
}

// Nothing of the step's micro-batches is left to do for this worker.
void PipelineSteps::leave(int worker) {
  Worker& state = workers_.at(worker);
  const std::shared_ptr<PipelineRun> run = runs_.at(state.step);
  ledger_.end_passes(worker, state.step, assignment_.stage_of(worker, state.step), run->times(worker));
  state.clocks = run->clocks(worker);
  if (run->leave()) drop(state.step);
  watcher_.on_done(worker);
}

void PipelineSteps::on_crash(int worker) {
  const int step = workers_.at(worker).step;
  ledger_.cut_passes(worker, step, assignment_.stage_of(worker, step), runs_.at(step)->on_crash(worker));
}

void PipelineSteps::drop(int step) {
  const std::shared_ptr<PipelineRun> run = runs_.at(step);
  transfers_ += run->transfers();
  context_.clock.retire(run);
  runs_.erase(step);
}

void PipelineSteps::close(int step) {
  while (!runs_.empty() && runs_.begin()->first < step) drop(runs_.begin()->first);
}

std::vector<std::string> PipelineSteps::waiting() const {
  std::vector<std::string> lines;
  for (const auto& [step, run] : runs_)
    for (std::string& line : run->waiting()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace longhaul
