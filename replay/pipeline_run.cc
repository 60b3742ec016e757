#include "replay/pipeline_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/index.h"

namespace longhaul {

PipelineRun::PipelineRun(const ExchangeContext& context, const Trace& trace, const StepTimes& times, int step,
                         Watcher watcher)
    : clock_(context.clock),
      network_(context.network),
      in_turn_(!context.sending.draws_times),
      trace_(trace),
      step_(step),
      watcher_(std::move(watcher)),
      workers_(as_index(trace.context.replicas * trace.plan.pipeline.stages)),
      workers_left_(static_cast<int>(workers_.size())) {
  const int replicas = trace.context.replicas, parts = plan().part_count();
  for (int stage = 0; stage < stages(); ++stage) tasks_.push_back(tasks_of_stage(plan(), stage));
  for (int microbatch = 0; microbatch < plan().microbatches; ++microbatch) {
    const auto paths = paths_of(plan(), trace.context.seed, replicas, step, microbatch);
    const std::vector<std::vector<int>> none(as_index(parts), std::vector<int>(as_index(replicas), -1));
    comes_from_.push_back(none);
    goes_to_.push_back(none);
    for (const std::vector<int>& path : paths)
      for (std::size_t part = 1; part < path.size(); ++part) {
        comes_from_.back()[part][as_index(path[part])] = path[part - 1];
        goes_to_.back()[part - 1][as_index(path[part - 1])] = path[part];
      }
  }
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Worker& worker = workers_[i];
    worker.arrived.resize(2 * as_index(parts * plan().microbatches), -1);
    worker.seconds = times.seconds(static_cast<int>(i), step);
  }
}

std::size_t PipelineRun::number_of(const PipelineTask& task) const {
  return as_index((task.part * plan().microbatches + task.microbatch) * 2 + (task.is_forward ? 0 : 1));
}

double PipelineRun::seconds_of(int worker, const PipelineTask& task) const {
  const double both =
      workers_[as_index(worker)].seconds * plan().parts[as_index(task.part)].share / plan().microbatches;
  return (task.is_forward ? 1 : plan().backward) / (1 + plan().backward) * both;
}

bool PipelineRun::needs_message(const PipelineTask& task) const {
  return task.is_forward ? task.part > 0 : task.part + 1 < plan().part_count();
}

void PipelineRun::enter(int index, const WorkerClocks& clocks) {
  Worker& worker = workers_[as_index(index)];
  worker.is_here = true;
  worker.idle_since_s = clock_.now_s();
  worker.clocks = clocks;
  go_on(index);
}

bool PipelineRun::may_begin(const Worker& worker, const PipelineTask& task) const {
  if (plan().blocks && worker.under_way > 0) return false;
  return !needs_message(task) || worker.arrived[number_of(task)] >= 0;
}

void PipelineRun::go_on(int index) {
  Worker& worker = workers_[as_index(index)];
  if (!worker.is_here || worker.computes) return;
  const std::vector<PipelineTask>& tasks = tasks_of(index);
  if (worker.next < tasks.size()) {
    if (may_begin(worker, tasks[worker.next])) begin(index, tasks[worker.next]);
    return;
  }
  if (plan().blocks && worker.under_way > 0) return;
  worker.is_here = false;
  count_wait(worker);
  watcher_.on_done(index);
}

// What it has waited since it was idle; its free clock shows when that would have ended.
void PipelineRun::count_wait(Worker& worker) const {
  const double now_s = clock_.now_s();
  const double waited_s = seconds_between(worker.idle_since_s, now_s);
  const double late_s = std::max(worker.clocks.late_s, seconds_between(worker.clocks.free_s, now_s));
  const double network_s = std::min(waited_s, late_s - worker.clocks.late_s);
  worker.clocks.late_s = late_s;
  worker.times.network_s += network_s;
  worker.times.bubble_s += waited_s - network_s;
}

void PipelineRun::begin(int index, const PipelineTask& task) {
  Worker& worker = workers_[as_index(index)];
  worker.clocks.free_s = std::max(worker.clocks.free_s, worker.arrived[number_of(task)]);
  count_wait(worker);
  worker.computes = true;
  const double pass_s = seconds_of(index, task);
  worker.times.compute_s += pass_s;
  if (!task.is_forward && worker.next + 1 == tasks_of(index).size())
    watcher_.on_last_pass(index, pass_s, pass_s * (1 + plan().backward) / plan().backward);
  clock_.after(pass_s, [this, index, task, begin_s = clock_.now_s()] { end(index, task, begin_s); });
}

void PipelineRun::end(int index, const PipelineTask& task, double begin_s) {
  Worker& worker = workers_[as_index(index)];
  worker.computes = false;
  worker.idle_since_s = clock_.now_s();
  worker.clocks.free_s += worker.idle_since_s - begin_s;
  ++worker.next;
  watcher_.on_task({index, task, begin_s, worker.idle_since_s});
  send(index, task);
  go_on(index);
}

// What a pass made, to whom it is passed on.
void PipelineRun::send(int index, const PipelineTask& task) {
  const int part = task.is_forward ? task.part + 1 : task.part - 1;
  if (part < 0 || part == plan().part_count()) return;
  const auto& hops = task.is_forward ? goes_to_ : comes_from_;
  const auto& of_part = hops[as_index(task.microbatch)][as_index(task.part)];
  const int to = worker_of(of_part[as_index(replica_of(index))], plan().stage_of(part), stages());
  const std::int64_t bytes =
      task.is_forward ? plan().forward_bytes[as_index(task.part)] : plan().backward_bytes[as_index(part)];
  Worker& sender = workers_[as_index(index)];
  sender.times.bytes_sent += bytes;
  ++sender.under_way;
  ++transfers_;
  const int rule = static_cast<int>(trace_.plan.rules.size()) + (task.is_forward ? 0 : 1);
  const MessageKey key{step_, rule, index, static_cast<int>(number_of(task))};
  const std::size_t awaited = number_of({task.is_forward, part, task.microbatch});
  const double free_s = sender.clocks.free_s;
  network_.send({index, to, bytes, key, in_turn_}, [this, index, to, awaited, free_s] {
    workers_[as_index(to)].arrived[awaited] = free_s;
    if (--workers_[as_index(index)].under_way == 0 && plan().blocks) go_on(index);
    go_on(to);
  });
}

std::vector<std::string> PipelineRun::waiting() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const Worker& worker = workers_[i];
    const std::vector<PipelineTask>& tasks = tasks_of(static_cast<int>(i));
    if (!worker.is_here || worker.computes || worker.next == tasks.size()) continue;
    const PipelineTask& task = tasks[worker.next];
    lines.push_back(fmt::format("step {}: worker {} waits for the {} of micro-batch {} in part {}", step_, i,
                                task.is_forward ? "activations" : "gradients", task.microbatch, task.part));
  }
  return lines;
}

}  // namespace longhaul
