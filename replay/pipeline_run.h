// The stages of all replicas at work on the micro-batches of one step.
//
// A worker takes its passes in the order of its schedule (core/plan/pipeline.h): it begins the next one when
// the one before is over and what that one works on is there. Where micro-batches are routed by throughput,
// leave stages out or take them in another order, it takes them as they come, backward passes first; of each
// replica's own micro-batches as many are under way as there are stages, which is what 1F1B's first stage
// has. Routed by throughput, it is done when all of its stage are: it cannot know what comes. What a pass
// makes travels to the worker that goes on with it; it is taken in whatever that worker is doing. Where
// two micro-batches reach a worker together, the later one of its order waits.
//
// What a worker waits is told apart by a second clock of each worker, on which messages between stages take
// no time and all else takes as long as it does. What it waits on that clock too is a bubble: the schedule
// and the other workers' pace would have it on any network. What it waits beyond that is the network's.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "core/plan/paths.h"
#include "core/plan/trace.h"
#include "replay/network/network.h"
#include "replay/rebalance.h"
#include "replay/step_plan.h"
#include "replay/wiring.h"

namespace longhaul {

// Of a worker, between steps.
struct WorkerClocks {
  double free_s = 0;  // what its clock would show, did messages between stages take no time
  double late_s = 0;  // the longest by which its clock was behind that
};

// One pass of one worker, as it was.
struct TaskTimes {
  int worker = 0;
  PipelineTask task;
  double begin_s = 0, end_s = 0;  // of the clock
};

class PipelineRun {
 public:
  struct WorkerTimes {
    double compute_s = 0, bubble_s = 0, network_s = 0;  // the latter two: waiting
    std::int64_t bytes_sent = 0;
  };
  struct Watcher {
    std::function<void(int worker)> on_done;  // its last pass is over: the optimizer's turn
    // Its last backward pass begins, which takes `pass_s`; `microbatch_s`: forward and backward of a
    // micro-batch in the same part. What the pass releases before its end may be scheduled now.
    std::function<void(int worker, double pass_s, double microbatch_s)> on_last_pass;
    std::function<void(const TaskTimes& times)> on_task;
    // How long a pass of so many seconds takes that begins now; empty: as long.
    std::function<double(int worker, double seconds)> pace = {};
    std::function<void()> on_last_of_all;  // of all workers: the last pass of the step is over
  };

  // All must outlive it. `wiring` is what workers have measured in all steps so far. Until the first worker
  // of stage 0 enters, `crews` may change for this step.
  PipelineRun(const ExchangeContext& context, const Trace& trace, const StepTimes& times, Wiring& wiring,
              const Crews& crews, int step, Watcher watcher);

  // The worker has done with the step before.
  void enter(int worker, const WorkerClocks& clocks);
  // The worker crashes, and with it all of its replica's: what they work on and what is under way between
  // them is lost. Returns what it did until now, of a pass that is not over what is done of it. Of straight
  // paths. It may enter again.
  WorkerTimes cut(int worker);
  bool has_cuts() const { return has_cuts_; }
  // The worker has what it needs for the stage that it serves now.
  void wake(int worker) { go_on(worker); }
  const WorkerClocks& clocks(int worker) const { return workers_[as_index(worker)].clocks; }
  const WorkerTimes& times(int worker) const { return workers_[as_index(worker)].times; }
  // The worker has gone on to the next step. True for the last one.
  bool leave() { return --workers_left_ == 0; }
  std::int64_t transfers() const { return transfers_; }
  std::vector<std::string> waiting() const;  // who waits for what, a line each

 private:
  // What a pass works on: the micro-batch of replica `home`. When it would be there, did messages take no
  // time; negative: it is under way.
  struct Input {
    PipelineTask task;
    int home = 0, place = 0;  // `place` of its path
    double free_s = -1;
  };
  struct Worker {
    bool is_here = false, computes = false;
    std::size_t next = 0;             // of its stage's tasks
    int left = 0;                     // passes that it will take, where it takes them as they come
    std::vector<Input> arrived;       // by task number
    std::deque<Input> forward, back;  // as they came, where there is no order
    int under_way = 0;                // of its own messages
    int begun = 0;                    // of its replica's micro-batches, not yet back; of the first stage
    double idle_since_s = 0;
    double seconds = 0;     // of compute of the whole model in this step
    double pass_end_s = 0;  // of the clock: while it computes
    int life = 0;           // what was under way in an earlier one is lost
    WorkerClocks clocks;
    WorkerTimes times;
  };

  const PipelinePlan& plan() const { return trace_.plan.pipeline; }
  int stages() const { return plan().stages; }
  bool is_by_throughput() const { return plan().routing == MicrobatchRouting::kThroughput; }
  bool has_order() const { return !is_by_throughput() && !plan().is_partial(); }
  int replica_of(int worker) const { return worker / stages(); }
  int stage_of(int worker) const { return crews_.stage_of(worker, step_); }
  const std::vector<PipelineTask>& tasks_of(int worker) const { return tasks_[as_index(worker % stages())]; }
  const Route& path_of(const Input& input) const {
    return paths_[as_index(input.task.microbatch)][as_index(input.home)];
  }
  int& taker_of(const Input& input, int part) {
    return takers_[(as_index(input.task.microbatch) * as_index(trace_.context.replicas) +
                    as_index(input.home)) *
                       as_index(plan().part_count()) +
                   as_index(part)];
  }
  void give_out(int worker);  // of straight and random paths: what it begins with
  std::size_t number_of(const PipelineTask& task) const;
  double pass_s(int worker, const PipelineTask& task) const;
  void go_on(int worker);
  void take_what_came(int worker);
  bool is_done(int worker) const;
  void share_out();
  void wake_others(int worker);
  bool take_from_pool(int worker);
  // Of the pool: for each worker one that it works on and one that waits for it.
  int most_begun() const { return 2 * static_cast<int>(workers_.size()); }
  void finish(int worker);
  void count_wait(Worker& worker) const;
  void begin(int worker, const Input& input);
  void end(int worker, const Input& input, double begin_s);
  void send(int worker, const Input& input);
  void arrive(int worker, const Input& input);

  Clock& clock_;
  Network& network_;
  bool in_turn_;
  const Trace& trace_;
  Wiring& wiring_;
  const Crews& crews_;
  int step_;
  Watcher watcher_;
  std::vector<std::vector<PipelineTask>> tasks_;  // by stage
  std::vector<std::vector<Route>> paths_;         // by micro-batch and home
  // Routed by throughput: when each was handed on, by the same; and how many backward passes a stage has
  // left.
  std::vector<std::vector<double>> handed_s_;
  std::vector<int> left_of_stage_;
  std::vector<int> takers_;  // the worker that takes each micro-batch of each home through each part
  // Where stage 0 has other workers than at first: all micro-batches that have not begun, and how many of
  // those that have are not yet back.
  bool is_shared_out_ = false, has_pool_ = false;
  std::deque<Input> pool_;
  int begun_ = 0;
  std::vector<double> free_of_stage_s_;  // the latest of them would be over, did messages take no time
  std::vector<Worker> workers_;
  int workers_left_;
  bool has_cuts_ = false;
  std::int64_t transfers_ = 0;
};

}  // namespace longhaul
