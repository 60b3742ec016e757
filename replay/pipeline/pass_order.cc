#include "replay/pipeline/pass_order.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "core/base/index.h"
#include "replay/work/trace_steps.h"

namespace longhaul {
namespace {

// Each replica's workers of the first stage begin with its own micro-batches.
template <typename Arrive>
void give_out(const PipelinePlan& plan, int worker, const Arrive& arrive) {
  if (worker % plan.stages != 0) return;
  for (int microbatch = 0; microbatch < plan.microbatches; ++microbatch)
    arrive(PipelinePass{{true, 0, microbatch}, worker / plan.stages, 0, 0});
}

class ScheduledOrder : public PassOrder {
 public:
  explicit ScheduledOrder(const Trace& trace)
      : PassOrder(trace.plan.pipeline), workers_(as_index(worker_count(trace))) {
    for (int stage = 0; stage < plan_.stages; ++stage) tasks_.push_back(tasks_of_stage(plan_, stage));
    for (std::size_t worker = 0; worker < workers_.size(); ++worker) reset(static_cast<int>(worker));
  }

  void arrive(int worker, const PipelinePass& pass) override { arrived(worker, pass.task) = pass; }
  std::optional<PipelinePass> take(int worker) override {
    std::size_t& next = workers_[as_index(worker)].next;
    const PipelinePass& pass = arrived(worker, tasks_of(worker)[next]);
    if (pass.free_s < 0) return {};
    ++next;
    return pass;
  }
  bool is_done(int worker) const override {
    return workers_[as_index(worker)].next == tasks_of(worker).size();
  }
  void reset(int worker) override {
    workers_[as_index(worker)] = {
        0, std::vector<PipelinePass>(2 * as_index(plan_.part_count() * plan_.microbatches))};
    give_out(plan_, worker, [&](const PipelinePass& pass) { arrive(worker, pass); });
  }
  std::string missing(int worker) const override {
    const PipelineTask& task = tasks_of(worker)[workers_[as_index(worker)].next];
    return fmt::format("the {} of micro-batch {} in part {}", task.is_forward ? "activations" : "gradients",
                       task.microbatch, task.part);
  }

 private:
  struct Worker {
    std::size_t next = 0;               // of its stage's tasks
    std::vector<PipelinePass> arrived;  // by task
  };

  const std::vector<PipelineTask>& tasks_of(int worker) const {
    return tasks_[as_index(worker % plan_.stages)];
  }
  PipelinePass& arrived(int worker, const PipelineTask& task) {
    return workers_[as_index(worker)].arrived[task_number(plan_, task)];
  }

  std::vector<std::vector<PipelineTask>> tasks_;  // by stage
  std::vector<Worker> workers_;
};

class OrderOfArrival : public PassOrder {
 public:
  explicit OrderOfArrival(const Trace& trace)
      : PassOrder(trace.plan.pipeline), workers_(as_index(worker_count(trace))) {}
  OrderOfArrival(const Trace& trace, const PathsOfStep& paths) : OrderOfArrival(trace) {
    for (const std::vector<Route>& of_all : paths)
      for (const Route& path : of_all)
        for (const Stop& stop : path)
          if (stop.is_there()) workers_[as_index(receiver(0, {}, stop))].left += 2;
    for (std::size_t i = 0; i < workers_.size(); ++i)
      give_out(plan_, static_cast<int>(i),
               [&](const PipelinePass& pass) { arrive(static_cast<int>(i), pass); });
  }

  void arrive(int worker, const PipelinePass& pass) override {
    Worker& state = workers_[as_index(worker)];
    (pass.task.is_forward ? state.forward : state.back).push_back(pass);
  }
  std::optional<PipelinePass> take(int worker) override {
    Worker& state = workers_[as_index(worker)];
    for (std::deque<PipelinePass>* queue : {&state.back, &state.forward}) {
      if (queue->empty()) continue;
      const PipelinePass pass = queue->front();
      const bool is_new = pass.task.is_forward && pass.task.part == 0;
      if (is_new && state.begun == plan_.stages) return {};
      state.begun += is_new;
      queue->pop_front();
      --state.left;
      return pass;
    }
    return {};
  }
  bool is_done(int worker) const override { return workers_[as_index(worker)].left == 0; }
  void end(int worker, const PipelinePass& pass) override {
    if (!pass.task.is_forward && pass.task.part == 0) --workers_[as_index(worker)].begun;
  }
  std::string missing(int worker) const override {
    return fmt::format("{} passes of its stage", workers_[as_index(worker)].left);
  }

 private:
  struct Worker {
    std::deque<PipelinePass> forward, back;
    int begun = 0;  // of its replica's micro-batches, not yet back; of the first stage
    int left = 0;   // passes that it will take
  };
  std::vector<Worker> workers_;
};

class OrderByThroughput : public OrderOfArrival {
 public:
  OrderByThroughput(const Trace& trace, int step, const StageAssignment& assignment, Wiring& wiring,
                    const Clock& clock, std::function<void(int)> wake, std::function<void()> on_last_of_all)
      : OrderOfArrival(trace),
        replicas_(trace.context.replicas),
        step_(step),
        most_begun_(2 * worker_count(trace)),
        assignment_(assignment),
        wiring_(wiring),
        clock_(clock),
        wake_(std::move(wake)),
        on_last_of_all_(std::move(on_last_of_all)),
        handed_s_(microbatches()),
        takers_(microbatches() * as_index(plan_.part_count()), -1),
        stages_(as_index(plan_.stages), {static_cast<int>(microbatches()), 0}) {}

  void enter(int worker) override {
    if (stage_of(worker) != 0 || std::exchange(is_shared_out_, true)) return;
    has_pool_ = !assignment_.is_original(0, step_);
    for (int microbatch = 0; microbatch < plan_.microbatches; ++microbatch)
      for (int home = 0; home < replicas_; ++home) {
        const PipelinePass pass{{true, 0, microbatch}, home, 0, 0};
        has_pool_ ? pool_.push_back(pass) : arrive(worker_of(home, 0, plan_.stages), pass);
      }
  }
  std::optional<PipelinePass> take(int worker) override {
    if (!assignment_.can_compute(worker, step_)) return {};
    std::optional<PipelinePass> pass = OrderOfArrival::take(worker);
    if (!pass) pass = take_from_pool(worker);
    if (pass && pass->task.is_forward) taker_of(*pass, pass->task.part) = worker;
    return pass;
  }
  bool is_last(int) const override { return false; }
  bool is_done(int worker) const override {
    return assignment_.can_compute(worker, step_) && stages_[as_index(stage_of(worker))].left == 0;
  }
  int receiver(int from, const PipelinePass& made, const Stop& stop) override {
    if (!made.task.is_forward) return taker_of(made, stop.part);
    handed_s_[number_of(made)] = clock_.now_s();
    return wiring_.choose(from);
  }
  void end(int worker, const PipelinePass& pass) override {
    if (pass.task.is_forward && pass.task.part > 0)
      wiring_.measured(taker_of(pass, pass.task.part - 1), worker,
                       clock_.now_s() - handed_s_[number_of(pass)]);
    if (has_pool_ && !pass.task.is_forward && pass.task.part == 0 && begun_-- == most_begun_)
      wake_others(worker);
    OrderOfArrival::end(worker, pass);
  }
  void pass_on(int worker, const PipelinePass& pass, double free_s) override {
    const int stage = stage_of(worker);
    Stage& state = stages_[as_index(stage)];
    state.free_s = std::max(state.free_s, free_s);
    if (pass.task.is_forward || --state.left > 0) return;
    if (stage == 0) on_last_of_all_();
    wake_others(worker);
  }
  double stage_free_s(int worker) const override { return stages_[as_index(stage_of(worker))].free_s; }
  std::string missing(int worker) const override {
    return fmt::format("{} micro-batches of its stage", stages_[as_index(stage_of(worker))].left);
  }

 private:
  struct Stage {
    int left = 0;       // backward passes
    double free_s = 0;  // the latest of its passes would be over, did messages take no time
  };

  std::size_t microbatches() const { return as_index(replicas_ * plan_.microbatches); }
  std::size_t number_of(const PipelinePass& pass) const {
    return as_index(pass.task.microbatch) * as_index(replicas_) + as_index(pass.home);
  }
  int& taker_of(const PipelinePass& pass, int part) {
    return takers_[number_of(pass) * as_index(plan_.part_count()) + as_index(part)];
  }
  int stage_of(int worker) const { return assignment_.stage_of(worker, step_); }
  // For each worker one that it works on and one that waits for it.
  std::optional<PipelinePass> take_from_pool(int worker) {
    if (stage_of(worker) != 0 || pool_.empty() || begun_ == most_begun_) return {};
    const PipelinePass pass = pool_.front();
    pool_.pop_front();
    ++begun_;
    return pass;
  }
  // Those of its stage, which have waited for it.
  void wake_others(int worker) {
    for (const int other : assignment_.workers_of(stage_of(worker), step_))
      if (other != worker) wake_(other);
  }

  const int replicas_, step_, most_begun_;
  const StageAssignment& assignment_;
  Wiring& wiring_;
  const Clock& clock_;
  const std::function<void(int)> wake_;
  const std::function<void()> on_last_of_all_;
  std::vector<double> handed_s_;  // by micro-batch and home: when it was handed on
  std::vector<int> takers_;       // the worker that takes each of them through each part
  std::vector<Stage> stages_;
  bool is_shared_out_ = false, has_pool_ = false;
  std::deque<PipelinePass> pool_;  // where stage 0 has other workers than at first: what has not begun
  int begun_ = 0;                  // of those that have, not yet back
};

}  // namespace

std::unique_ptr<PassOrder> make_schedule(const Trace& trace) {
  return std::make_unique<ScheduledOrder>(trace);
}

std::unique_ptr<PassOrder> make_order_of_arrival(const Trace& trace, const PathsOfStep& paths) {
  return std::make_unique<OrderOfArrival>(trace, paths);
}

std::unique_ptr<PassOrder> make_order_by_throughput(const Trace& trace, int step,
                                                    const StageAssignment& assignment, Wiring& wiring,
                                                    const Clock& clock, std::function<void(int)> wake,
                                                    std::function<void()> on_last_of_all) {
  return std::make_unique<OrderByThroughput>(trace, step, assignment, wiring, clock, std::move(wake),
                                             std::move(on_last_of_all));
}

}  // namespace longhaul
