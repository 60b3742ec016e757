#include "replay/pipeline/pipeline_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/base/index.h"
#include "replay/work/trace_steps.h"

namespace longhaul {

PipelineRun::PipelineRun(const ExchangeContext& context, const Trace& trace, const StepTimes& times,
                         Wiring& wiring, const StageAssignment& assignment, int step, Watcher watcher)
    : clock_(context.clock),
      network_(context.network),
      in_turn_(!context.spec.message_time),
      overhead_s_(context.spec.operation_overhead_s),
      trace_(trace),
      step_(step),
      watcher_(std::move(watcher)),
      has_schedule_(plan().routing != MicrobatchRouting::kThroughput && !plan().is_partial()),
      awaits_delivery_(has_schedule_ && plan().blocks),
      workers_(as_index(worker_count(trace))),
      workers_left_(static_cast<int>(workers_.size())) {
  for (int microbatch = 0; microbatch < plan().microbatches; ++microbatch)
    paths_.push_back(paths_of(plan(), trace.context.seed, trace.context.replicas, step, microbatch));
  for (std::size_t i = 0; i < workers_.size(); ++i)
    workers_[i].seconds = times.seconds(static_cast<int>(i), step);
  order_ = make_order(wiring, assignment, step);
}

std::unique_ptr<PassOrder> PipelineRun::make_order(Wiring& wiring, const StageAssignment& assignment,
                                                   int step) {
  if (has_schedule_) return make_schedule(trace_);
  if (plan().routing != MicrobatchRouting::kThroughput) return make_order_of_arrival(trace_, paths_);
  const auto wake = [this](int worker) { clock_.after(0, [this, worker] { go_on(worker); }); };
  return make_order_by_throughput(trace_, step, assignment, wiring, clock_, wake, watcher_.on_last_of_all);
}

double PipelineRun::pass_s(int worker, const PipelineTask& task) const {
  const double both =
      workers_[as_index(worker)].seconds * plan().parts[as_index(task.part)].share / plan().microbatches;
  return (task.is_forward ? 1 : plan().backward) / (1 + plan().backward) * both;
}

void PipelineRun::enter(int index, const WorkerClocks& clocks) {
  Worker& worker = at(index);
  worker.is_here = true;
  worker.idle_since_s = clock_.now_s();
  worker.clocks = clocks;
  order_->enter(index);
  go_on(index);
}

PipelineRun::WorkerTimes PipelineRun::on_crash(int index) {
  Worker& worker = at(index);
  if (worker.computes)
    worker.times.compute_s -= seconds_between(clock_.now_s(), worker.pass_end_s);
  else if (worker.is_here)
    count_cut_wait(worker);
  const WorkerTimes times = worker.times;
  Worker anew;
  anew.seconds = worker.seconds;
  worker = std::move(anew);
  order_->reset(index);
  return times;
}

void PipelineRun::go_on(int index) {
  Worker& worker = at(index);
  if (!worker.is_here || worker.computes || (awaits_delivery_ && worker.under_way > 0)) return;
  if (order_->is_done(index)) return finish(index);
  if (const std::optional<PipelinePass> pass = order_->take(index)) begin(index, *pass);
}

void PipelineRun::finish(int index) {
  Worker& worker = at(index);
  worker.clocks.free_s = std::max(worker.clocks.free_s, order_->stage_free_s(index));
  if (!worker.has_told_last) watcher_.on_last_pass(index, 0, 0);
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

// Until a crash. What it waited for is under way, since when its free clock says; or it was not made yet, and
// then it would have waited for it on any network.
void PipelineRun::count_cut_wait(Worker& worker) const {
  const double would_wait_until_s =
      worker.coming_free_s.empty() ? clock_.now_s() - worker.clocks.late_s : *worker.coming_free_s.begin();
  worker.clocks.free_s = std::max(worker.clocks.free_s, would_wait_until_s);
  count_wait(worker);
}

void PipelineRun::begin(int index, const PipelinePass& pass) {
  Worker& worker = at(index);
  const PipelineTask& task = pass.task;
  worker.clocks.free_s = std::max(worker.clocks.free_s, pass.free_s);
  count_wait(worker);
  worker.computes = true;
  const double own_s = pass_s(index, task), taken_s = watcher_.pace ? watcher_.pace(index, own_s) : own_s;
  worker.times.compute_s += taken_s;
  if (!task.is_forward && order_->is_last(index)) {
    worker.has_told_last = true;
    watcher_.on_last_pass(index, own_s, own_s * (1 + plan().backward) / plan().backward);
  }
  worker.pass_end_s = clock_.now_s() + taken_s;
  worker.life.after(clock_, taken_s,
                    [this, index, pass, begin_s = clock_.now_s()] { end(index, pass, begin_s); });
}

void PipelineRun::end(int index, const PipelinePass& pass, double begin_s) {
  Worker& worker = at(index);
  const double now_s = clock_.now_s();
  worker.computes = false;
  worker.idle_since_s = now_s;
  worker.clocks.free_s += now_s - begin_s;
  watcher_.on_task({index, pass.task, begin_s, now_s});
  order_->end(index, pass);
  send(index, pass);
  order_->pass_on(index, pass, worker.clocks.free_s);
  go_on(index);
}

// What a pass made, to whom it is passed on; the last part turns back by itself.
void PipelineRun::send(int index, const PipelinePass& pass) {
  const PipelineTask& task = pass.task;
  Worker& sender = at(index);
  const Route& path = path_of(pass);
  const bool turns_back = task.is_forward && next_place(path, pass.place, true) < 0;
  const int place = turns_back ? pass.place : next_place(path, pass.place, task.is_forward);
  if (place < 0) return;
  const Stop& stop = path[as_index(place)];
  const PipelinePass next{
      {task.is_forward && !turns_back, stop.part, task.microbatch}, pass.home, place, sender.clocks.free_s};
  if (turns_back) return order_->arrive(index, next);
  const int to = order_->receiver(index, pass, stop);
  const int hop = task.is_forward ? task.part : stop.part;
  const std::int64_t bytes = trace_.hop_bytes(step_, pass.home, hop, task.is_forward);
  sender.times.bytes_sent += bytes;
  ++sender.under_way;
  at(to).coming_free_s.insert(next.free_s);
  ++transfers_;
  const int rule = static_cast<int>(trace_.plan.rules.size()) + (task.is_forward ? 0 : 1);
  // Without a schedule a worker may have several micro-batches of one number, of different homes.
  const MessageKey key{step_, rule, index, static_cast<int>(task_number(plan(), task)),
                       has_schedule_ ? 0 : pass.home};
  const auto on_arrival = [this, index, to, next] {
    if (--at(index).under_way == 0 && plan().blocks) go_on(index);
    std::multiset<double>& coming = at(to).coming_free_s;  // empty where `to` has crashed since
    if (const auto found = coming.find(next.free_s); found != coming.end()) coming.erase(found);
    order_->arrive(to, next);
    go_on(to);
  };
  const auto hand_over = [this, index, to, bytes, key, on_arrival] {
    at(index).life.send(network_, {index, to, bytes, key, in_turn_}, on_arrival);
  };
  if (overhead_s_ == 0) return hand_over();
  sender.life.after(clock_, overhead_s_, hand_over);
}

std::vector<std::string> PipelineRun::waiting() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < workers_.size(); ++i)
    if (workers_[i].is_here && !workers_[i].computes)
      lines.push_back(
          fmt::format("step {}: worker {} waits for {}", step_, i, order_->missing(static_cast<int>(i))));
  return lines;
}

}  // namespace longhaul
