// The stages of all replicas at work on the micro-batches of one step.
//
// A worker begins a pass when the one before is over and what the next one of its order (pass_order.h) works
// on is there. What a pass makes travels to the worker that goes on with it; it is taken in whatever that
// worker is doing. Where two micro-batches reach a worker together, the later one of its order waits.
//
// What a worker waits is told apart by a second clock of each worker, on which messages between stages take
// no time and all else takes as long as it does. What it waits on that clock too is a bubble: the schedule
// and the other workers' pace would have it on any network. What it waits beyond that is the network's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/plan/trace.h"
#include "replay/exchange/exchange_run.h"
#include "replay/network/network.h"
#include "replay/pipeline/pass_order.h"
#include "replay/pipeline/wiring.h"
#include "replay/work/life.h"
#include "replay/work/stage_assignment.h"
#include "replay/work/step_times.h"

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
  // of stage 0 enters, `assignment` may change for this step.
  PipelineRun(const ExchangeContext& context, const Trace& trace, const StepTimes& times, Wiring& wiring,
              const StageAssignment& assignment, int step, Watcher watcher);

  // The worker has done with the step before.
  void enter(int worker, const WorkerClocks& clocks);
  // The worker crashes, and with it all of its replica's: what they work on and what is under way between
  // them is lost. Returns what it did until now, of a pass that is not over what is done of it. Of straight
  // paths. It may enter again.
  WorkerTimes on_crash(int worker);
  // The worker has what it needs for the stage that it serves now.
  void wake(int worker) { go_on(worker); }
  const WorkerClocks& clocks(int worker) const { return workers_[as_index(worker)].clocks; }
  const WorkerTimes& times(int worker) const { return workers_[as_index(worker)].times; }
  // The worker has gone on to the next step. True for the last one.
  bool leave() { return --workers_left_ == 0; }
  std::int64_t transfers() const { return transfers_; }
  std::vector<std::string> waiting() const;  // who waits for what, a line each

 private:
  struct Worker {
    bool is_here = false, computes = false, has_told_last = false;
    int under_way = 0;  // of its own messages
    std::multiset<double>
        coming_free_s;  // of those to it: when they were sent, of their senders' free clocks
    double idle_since_s = 0;
    double seconds = 0;     // of compute of the whole model in this step
    double pass_end_s = 0;  // of the clock: while it computes
    Life life;              // a crash ends it: what was under way is lost
    WorkerClocks clocks;
    WorkerTimes times;
  };

  const PipelinePlan& plan() const { return trace_.plan.pipeline; }
  Worker& at(int worker) { return workers_[as_index(worker)]; }
  const Route& path_of(const PipelinePass& pass) const {
    return paths_[as_index(pass.task.microbatch)][as_index(pass.home)];
  }
  std::unique_ptr<PassOrder> make_order(Wiring& wiring, const StageAssignment& assignment, int step);
  double pass_s(int worker, const PipelineTask& task) const;
  void go_on(int worker);
  void finish(int worker);
  void count_wait(Worker& worker) const;
  void count_cut_wait(Worker& worker) const;
  void begin(int worker, const PipelinePass& pass);
  void end(int worker, const PipelinePass& pass, double begin_s);
  void send(int worker, const PipelinePass& pass);

  Clock& clock_;
  Network& network_;
  bool in_turn_;
  double overhead_s_;  // of each message (network.operation_overhead)
  const Trace& trace_;
  int step_;
  Watcher watcher_;
  PathsOfStep paths_;
  bool has_schedule_, awaits_delivery_;
  std::unique_ptr<PassOrder> order_;
  std::vector<Worker> workers_;
  int workers_left_;
  std::int64_t transfers_ = 0;
};

}  // namespace longhaul
