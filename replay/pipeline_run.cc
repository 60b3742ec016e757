#include "replay/pipeline_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/index.h"

namespace longhaul {

PipelineRun::PipelineRun(const ExchangeContext& context, const Trace& trace, const StepTimes& times,
                         Wiring& wiring, int step, Watcher watcher)
    : clock_(context.clock),
      network_(context.network),
      in_turn_(!context.sending.draws_times),
      trace_(trace),
      wiring_(wiring),
      step_(step),
      watcher_(std::move(watcher)),
      workers_(as_index(worker_count(trace))),
      workers_left_(static_cast<int>(workers_.size())) {
  const int replicas = trace.context.replicas, parts = plan().part_count(), count = plan().microbatches;
  for (int stage = 0; stage < stages(); ++stage) tasks_.push_back(tasks_of_stage(plan(), stage));
  for (int microbatch = 0; microbatch < count; ++microbatch)
    paths_.push_back(paths_of(plan(), trace.context.seed, replicas, step, microbatch));
  handed_s_.assign(as_index(count), std::vector<double>(as_index(replicas)));
  left_of_stage_.assign(as_index(stages()), replicas * count);
  free_of_stage_s_.assign(as_index(stages()), 0);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Worker& worker = workers_[i];
    const int home = replica_of(static_cast<int>(i));
    worker.arrived.resize(2 * as_index(parts * count));
    worker.seconds = times.seconds(static_cast<int>(i), step);
    // Each begins with the micro-batches of its own replica, and the last part turns back by itself.
    if (i % as_index(stages()) == 0)
      for (int microbatch = 0; microbatch < count; ++microbatch)
        arrive(static_cast<int>(i), {{true, 0, microbatch}, home, 0});
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

void PipelineRun::enter(int index, const WorkerClocks& clocks) {
  Worker& worker = workers_[as_index(index)];
  worker.is_here = true;
  worker.idle_since_s = clock_.now_s();
  worker.clocks = clocks;
  go_on(index);
}

void PipelineRun::go_on(int index) {
  Worker& worker = workers_[as_index(index)];
  if (!worker.is_here || worker.computes) return;
  if (!has_order()) return take_what_came(index);
  if (plan().blocks && worker.under_way > 0) return;
  const std::vector<PipelineTask>& tasks = tasks_of(index);
  if (worker.next == tasks.size()) return finish(index);
  const Input& input = worker.arrived[number_of(tasks[worker.next])];
  if (input.free_s >= 0) begin(index, input);
}

void PipelineRun::take_what_came(int index) {
  Worker& worker = workers_[as_index(index)];
  if (left_of_stage_[as_index(index % stages())] == 0) {
    worker.clocks.free_s = std::max(worker.clocks.free_s, free_of_stage_s_[as_index(index % stages())]);
    watcher_.on_last_pass(index, 0, 0);
    return finish(index);
  }
  for (std::deque<Input>* queue : {&worker.back, &worker.forward})
    if (!queue->empty()) {
      const Input input = queue->front();
      const bool is_new = input.task.is_forward && input.task.part == 0;
      if (is_new && worker.begun == stages()) return;
      worker.begun += is_new;
      queue->pop_front();
      return begin(index, input);
    }
}

void PipelineRun::finish(int index) {
  Worker& worker = workers_[as_index(index)];
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

void PipelineRun::begin(int index, const Input& input) {
  Worker& worker = workers_[as_index(index)];
  const PipelineTask& task = input.task;
  worker.clocks.free_s = std::max(worker.clocks.free_s, input.free_s);
  count_wait(worker);
  worker.computes = true;
  const double pass_s = seconds_of(index, task);
  worker.times.compute_s += pass_s;
  if (has_order() && !task.is_forward && worker.next + 1 == tasks_of(index).size())
    watcher_.on_last_pass(index, pass_s, pass_s * (1 + plan().backward) / plan().backward);
  clock_.after(pass_s, [this, index, input, begin_s = clock_.now_s()] { end(index, input, begin_s); });
}

void PipelineRun::end(int index, const Input& input, double begin_s) {
  Worker& worker = workers_[as_index(index)];
  const PipelineTask& task = input.task;
  const double now_s = clock_.now_s();
  worker.computes = false;
  worker.idle_since_s = now_s;
  worker.clocks.free_s += now_s - begin_s;
  ++worker.next;
  watcher_.on_task({index, task, begin_s, now_s});
  if (!has_order() && task.is_forward && task.part > 0)
    wiring_.measured(path_of(input)[as_index(task.part - 1)], task.part - 1, replica_of(index),
                     now_s - handed_s_[as_index(task.microbatch)][as_index(input.home)]);
  if (!task.is_forward && task.part == 0) --worker.begun;
  send(index, input);
  const int stage = index % stages();
  double& free_s = free_of_stage_s_[as_index(stage)];
  free_s = std::max(free_s, worker.clocks.free_s);
  if (!has_order() && !task.is_forward && --left_of_stage_[as_index(stage)] == 0) {
    // The others of the stage have waited for this.
    for (int replica = 0; replica < trace_.context.replicas; ++replica)
      if (const int other = worker_of(replica, stage, stages()); other != index)
        clock_.after(0, [this, other] { go_on(other); });
  }
  go_on(index);
}

// What a pass made, to whom it is passed on; the last part turns back by itself.
void PipelineRun::send(int index, const Input& input) {
  const PipelineTask& task = input.task;
  Worker& sender = workers_[as_index(index)];
  const bool turns_back = task.is_forward && task.part + 1 == plan().part_count();
  const int part = turns_back ? task.part : task.is_forward ? task.part + 1 : task.part - 1;
  if (part < 0) return;
  Input next{{task.is_forward && !turns_back, part, task.microbatch}, input.home, sender.clocks.free_s};
  if (turns_back) return arrive(index, next);
  std::vector<int>& path = path_of(input);
  if (!has_order() && task.is_forward) {
    path[as_index(part)] = wiring_.choose(replica_of(index), task.part);
    handed_s_[as_index(task.microbatch)][as_index(input.home)] = clock_.now_s();
  }
  const int to = worker_of(path[as_index(part)], plan().stage_of(part), stages());
  const std::int64_t bytes = task.is_forward ? trace_.forward_bytes(step_, input.home, task.part)
                                             : trace_.backward_bytes(step_, input.home, part);
  sender.times.bytes_sent += bytes;
  ++sender.under_way;
  ++transfers_;
  const int rule = static_cast<int>(trace_.plan.rules.size()) + (task.is_forward ? 0 : 1);
  // A worker may have several micro-batches of one number, of different homes.
  const auto number = static_cast<int>(number_of(task));
  const MessageKey key{step_, rule, index, number, has_order() ? 0 : input.home};
  network_.send({index, to, bytes, key, in_turn_}, [this, index, to, next] {
    if (--workers_[as_index(index)].under_way == 0 && plan().blocks) go_on(index);
    arrive(to, next);
    go_on(to);
  });
}

void PipelineRun::arrive(int index, const Input& input) {
  Worker& worker = workers_[as_index(index)];
  if (has_order())
    worker.arrived[number_of(input.task)] = input;
  else
    (input.task.is_forward ? worker.forward : worker.back).push_back(input);
}

std::vector<std::string> PipelineRun::waiting() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const Worker& worker = workers_[i];
    if (!worker.is_here || worker.computes) continue;
    std::string text = fmt::format("step {}: worker {} waits for ", step_, i);
    const std::vector<PipelineTask>& tasks = tasks_of(static_cast<int>(i));
    if (has_order() && worker.next < tasks.size()) {
      const PipelineTask& task = tasks[worker.next];
      text += fmt::format("the {} of micro-batch {} in part {}",
                          task.is_forward ? "activations" : "gradients", task.microbatch, task.part);
    } else {
      text += fmt::format("{} micro-batches of its stage", left_of_stage_[i % as_index(stages())]);
    }
    lines.push_back(text);
  }
  return lines;
}

}  // namespace longhaul
