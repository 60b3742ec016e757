// The stages of all replicas at work on the micro-batches of one step.
//
// A worker takes its passes in the order of its schedule (core/plan/pipeline.h): it begins the next one when
// the one before is over and what that one works on is there. What a pass makes travels to the worker that
// goes on with it; it is taken in whatever that worker is doing. Where two micro-batches reach a worker
// together, the later one of its order waits.
//
// What a worker waits is told apart by a second clock of each worker, on which messages between stages take
// no time and all else takes as long as it does. What it waits on that clock too is a bubble: the schedule
// and the other workers' pace would have it on any network. What it waits beyond that is the network's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/plan/trace.h"
#include "replay/network/network.h"
#include "replay/step_plan.h"

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
  };

  // All must outlive it.
  PipelineRun(const ExchangeContext& context, const Trace& trace, const StepTimes& times, int step,
              Watcher watcher);

  // The worker has done with the step before.
  void enter(int worker, const WorkerClocks& clocks);
  const WorkerClocks& clocks(int worker) const { return workers_[as_index(worker)].clocks; }
  const WorkerTimes& times(int worker) const { return workers_[as_index(worker)].times; }
  // The worker has gone on to the next step. True for the last one.
  bool leave() { return --workers_left_ == 0; }
  std::int64_t transfers() const { return transfers_; }
  std::vector<std::string> waiting() const;  // who waits for what, a line each

 private:
  struct Worker {
    bool is_here = false, computes = false;
    std::size_t next = 0;  // of its stage's tasks
    // By task number what it works on: when it would be there, did messages take no time; negative: it is
    // under way.
    std::vector<double> arrived;
    int under_way = 0;  // of its own messages
    double idle_since_s = 0;
    double seconds = 0;  // of compute of the whole model in this step
    WorkerClocks clocks;
    WorkerTimes times;
  };

  const PipelinePlan& plan() const { return trace_.plan.pipeline; }
  int stages() const { return plan().stages; }
  int replica_of(int worker) const { return worker / stages(); }
  const std::vector<PipelineTask>& tasks_of(int worker) const { return tasks_[as_index(worker % stages())]; }
  std::size_t number_of(const PipelineTask& task) const;
  double seconds_of(int worker, const PipelineTask& task) const;
  bool needs_message(const PipelineTask& task) const;
  void go_on(int worker);
  bool may_begin(const Worker& worker, const PipelineTask& task) const;
  void count_wait(Worker& worker) const;
  void begin(int worker, const PipelineTask& task);
  void end(int worker, const PipelineTask& task, double begin_s);
  void send(int worker, const PipelineTask& task);

  Clock& clock_;
  Network& network_;
  bool in_turn_;
  const Trace& trace_;
  int step_;
  Watcher watcher_;
  std::vector<std::vector<PipelineTask>> tasks_;  // by stage
  // By micro-batch and part: the replica that had it in the part before, and the one that gets it in the
  // next.
  std::vector<std::vector<std::vector<int>>> comes_from_, goes_to_;
  std::vector<Worker> workers_;
  int workers_left_;
  std::int64_t transfers_ = 0;
};

}  // namespace longhaul
