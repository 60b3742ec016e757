#include "replay/pipeline_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/base/index.h"

namespace longhaul {

PipelineRun::PipelineRun(const ExchangeContext& context, const Trace& trace, const StepTimes& times,
                         Wiring& wiring, const Crews& crews, int step, Watcher watcher)
    : clock_(context.clock),
      network_(context.network),
      in_turn_(!context.sending.draws_times),
      trace_(trace),
      wiring_(wiring),
      crews_(crews),
      step_(step),
      watcher_(std::move(watcher)),
      workers_(as_index(worker_count(trace))),
      workers_left_(static_cast<int>(workers_.size())) {
  const int replicas = trace.context.replicas, count = plan().microbatches;
  for (int stage = 0; stage < stages(); ++stage) tasks_.push_back(tasks_of_stage(plan(), stage));
  for (int microbatch = 0; microbatch < count; ++microbatch)
    paths_.push_back(paths_of(plan(), trace.context.seed, replicas, step, microbatch));
  handed_s_.assign(as_index(count), std::vector<double>(as_index(replicas)));
  if (is_by_throughput()) takers_.assign(as_index(replicas * count * plan().part_count()), -1);
  left_of_stage_.assign(as_index(stages()), replicas * count);
  free_of_stage_s_.assign(as_index(stages()), 0);
  for (const std::vector<Route>& of_all : paths_)
    for (const Route& path : of_all)
      for (const Stop& stop : path)
        if (stop.is_there())
          workers_[as_index(worker_of(stop.replica, plan().stage_of(stop.part), stages()))].left += 2;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i].seconds = times.seconds(static_cast<int>(i), step);
    give_out(static_cast<int>(i));
  }
}

// Each begins with the micro-batches of its own replica, and the last part turns back by itself.
void PipelineRun::give_out(int index) {
  workers_[as_index(index)].arrived.assign(2 * as_index(plan().part_count() * plan().microbatches), {});
  if (is_by_throughput() || index % stages() != 0) return;
  for (int microbatch = 0; microbatch < plan().microbatches; ++microbatch)
    arrive(index, {{true, 0, microbatch}, replica_of(index), 0, 0});
}

std::size_t PipelineRun::number_of(const PipelineTask& task) const {
  return as_index((task.part * plan().microbatches + task.microbatch) * 2 + (task.is_forward ? 0 : 1));
}

double PipelineRun::pass_s(int worker, const PipelineTask& task) const {
  const double both =
      workers_[as_index(worker)].seconds * plan().parts[as_index(task.part)].share / plan().microbatches;
  return (task.is_forward ? 1 : plan().backward) / (1 + plan().backward) * both;
}

void PipelineRun::enter(int index, const WorkerClocks& clocks) {
  Worker& worker = workers_[as_index(index)];
  worker.is_here = true;
  worker.idle_since_s = clock_.now_s();
  worker.clocks = clocks;
  if (is_by_throughput() && stage_of(index) == 0) share_out();
  go_on(index);
}

// Each worker of stage 0 has the micro-batches of its own replica, unless workers have moved: then whichever
// of them can begin one takes the next one of all, since data need not travel.
void PipelineRun::share_out() {
  if (is_shared_out_) return;
  is_shared_out_ = true;
  has_pool_ = !crews_.is_original(0, step_);
  for (int microbatch = 0; microbatch < plan().microbatches; ++microbatch)
    for (int home = 0; home < trace_.context.replicas; ++home)
      (has_pool_ ? pool_ : workers_[as_index(worker_of(home, 0, stages()))].forward)
          .push_back({{true, 0, microbatch}, home, 0, 0});
}

bool PipelineRun::take_from_pool(int index) {
  if (stage_of(index) != 0 || pool_.empty() || begun_ == most_begun()) return false;
  const Input input = pool_.front();
  pool_.pop_front();
  ++begun_;
  begin(index, input);
  return true;
}

PipelineRun::WorkerTimes PipelineRun::cut(int index) {
  Worker& worker = workers_[as_index(index)];
  if (worker.computes)
    worker.times.compute_s -= seconds_between(clock_.now_s(), worker.pass_end_s);
  else if (worker.is_here)
    count_wait(worker);
  has_cuts_ = true;
  const WorkerTimes times = worker.times;
  Worker anew;
  anew.seconds = worker.seconds;
  anew.life = worker.life + 1;
  worker = std::move(anew);
  give_out(index);
  return times;
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

bool PipelineRun::is_done(int index) const {
  return is_by_throughput() ? left_of_stage_[as_index(stage_of(index))] == 0
                            : workers_[as_index(index)].left == 0;
}

void PipelineRun::take_what_came(int index) {
  Worker& worker = workers_[as_index(index)];
  if (!crews_.serves(index, step_)) return;
  if (is_done(index)) {
    if (is_by_throughput())
      worker.clocks.free_s = std::max(worker.clocks.free_s, free_of_stage_s_[as_index(stage_of(index))]);
    if (is_by_throughput() || worker.next == 0) watcher_.on_last_pass(index, 0, 0);
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
  take_from_pool(index);
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
  if (is_by_throughput() && task.is_forward) taker_of(input, task.part) = index;
  const double own_s = pass_s(index, task), taken_s = watcher_.pace ? watcher_.pace(index, own_s) : own_s;
  worker.times.compute_s += taken_s;
  const bool is_last = has_order() ? worker.next + 1 == tasks_of(index).size() : worker.left == 1;
  if (!is_by_throughput() && !task.is_forward && is_last)
    watcher_.on_last_pass(index, own_s, own_s * (1 + plan().backward) / plan().backward);
  worker.pass_end_s = clock_.now_s() + taken_s;
  clock_.after(taken_s, [this, index, input, begin_s = clock_.now_s(), life = worker.life] {
    if (workers_[as_index(index)].life == life) end(index, input, begin_s);
  });
}

void PipelineRun::end(int index, const Input& input, double begin_s) {
  Worker& worker = workers_[as_index(index)];
  const PipelineTask& task = input.task;
  const double now_s = clock_.now_s();
  worker.computes = false;
  worker.idle_since_s = now_s;
  worker.clocks.free_s += now_s - begin_s;
  ++worker.next;
  --worker.left;
  watcher_.on_task({index, task, begin_s, now_s});
  if (is_by_throughput() && task.is_forward && task.part > 0)
    wiring_.measured(taker_of(input, task.part - 1), index,
                     now_s - handed_s_[as_index(task.microbatch)][as_index(input.home)]);
  const int stage = stage_of(index);
  if (!task.is_forward && task.part == 0) {
    if (has_pool_ && begun_-- == most_begun()) wake_others(index);
    --worker.begun;
  }
  send(index, input);
  double& free_s = free_of_stage_s_[as_index(stage)];
  free_s = std::max(free_s, worker.clocks.free_s);
  if (is_by_throughput() && !task.is_forward && --left_of_stage_[as_index(stage)] == 0) {
    if (stage == 0) watcher_.on_last_of_all();
    wake_others(index);
  }
  go_on(index);
}

// Those of its stage, which have waited for it. They go on after it.
void PipelineRun::wake_others(int index) {
  for (const int other : crews_.workers_of(stage_of(index), step_))
    if (other != index) clock_.after(0, [this, other] { go_on(other); });
}

// What a pass made, to whom it is passed on; the last part turns back by itself.
void PipelineRun::send(int index, const Input& input) {
  const PipelineTask& task = input.task;
  Worker& sender = workers_[as_index(index)];
  const Route& path = path_of(input);
  const bool turns_back = task.is_forward && next_place(path, input.place, true) < 0;
  const int place = turns_back ? input.place : next_place(path, input.place, task.is_forward);
  if (place < 0) return;
  const Stop& stop = path[as_index(place)];
  Input next{
      {task.is_forward && !turns_back, stop.part, task.microbatch}, input.home, place, sender.clocks.free_s};
  if (turns_back) return arrive(index, next);
  int to = 0;
  if (!is_by_throughput()) {
    to = worker_of(stop.replica, plan().stage_of(stop.part), stages());
  } else if (task.is_forward) {
    to = wiring_.choose(index);
    handed_s_[as_index(task.microbatch)][as_index(input.home)] = clock_.now_s();
  } else {
    to = taker_of(input, stop.part);
  }
  const std::int64_t bytes = task.is_forward ? trace_.forward_bytes(step_, input.home, task.part)
                                             : trace_.backward_bytes(step_, input.home, stop.part);
  sender.times.bytes_sent += bytes;
  ++sender.under_way;
  ++transfers_;
  const int rule = static_cast<int>(trace_.plan.rules.size()) + (task.is_forward ? 0 : 1);
  // A worker may have several micro-batches of one number, of different homes.
  const auto number = static_cast<int>(number_of(task));
  const MessageKey key{step_, rule, index, number, has_order() ? 0 : input.home};
  network_.send({index, to, bytes, key, in_turn_}, [this, index, to, next, life = sender.life] {
    if (workers_[as_index(index)].life != life) return;
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
      text += fmt::format("{} micro-batches of its stage",
                          left_of_stage_[as_index(stage_of(static_cast<int>(i)))]);
    }
    lines.push_back(text);
  }
  return lines;
}

}  // namespace longhaul
