// The workers of a replay: where each is in the program of its step, and what its time came to. Times are
// seconds since training began, but for those of the clock.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "replay/engine/step_plan.h"
#include "replay/network/clock.h"
#include "replay/output/outputs.h"
#include "replay/pipeline/pipeline_run.h"

namespace longhaul {

struct Worker {
  // An operation that it has posted.
  struct Waited {
    std::shared_ptr<StepPlan> plan;  // keeps the run alive
    GroupOperation* run = nullptr;
  };

  int step = 0;
  double computed_s = 0;
  bool is_waiting = false;
  std::shared_ptr<StepPlan> plan;  // of the step; null where nothing but compute happens
  std::size_t next = 0;            // instruction of its program
  std::vector<Waited> blocking;    // of this step, one after another
  std::vector<Waited> overlapped;  // posted earlier, awaited at the end of a step to come
  WorkerClocks clocks;             // with stages
  ReplicaTotals totals;
  double begun_s = 0, planned_s = 0;  // the compute of its step
  int planned_steps = 0;              // that are computed as one
  // Compute since it last contributed to an operation.
  double unshared_s = 0;
  std::int64_t unshared_steps = 0;
  int ended_step = 0;  // the last one that it has ended
  bool is_computed = false, has_ended = false;
  int life = 0;  // what was scheduled in an earlier one is void, where replicas may be gone
};

class Workers {
 public:
  Workers(Clock& clock, int count) : clock_(clock), workers_(as_index(count)) {}

  void set_origin(double origin_s) { origin_s_ = origin_s; }  // of the clock: training begins

  int count() const { return static_cast<int>(workers_.size()); }
  Worker& at(int worker) { return workers_[as_index(worker)]; }
  const Worker& at(int worker) const { return workers_[as_index(worker)]; }
  std::vector<Worker>::iterator begin() { return workers_.begin(); }
  std::vector<Worker>::iterator end() { return workers_.end(); }

  double since_origin(double time_s) const { return seconds_between(origin_s_, time_s); }
  double now() const { return since_origin(clock_.now_s()); }

  // Calls `action` so much later, unless the worker has crashed until then.
  template <typename Action>
  void after(double seconds, int worker, Action action) {
    clock_.after(seconds, [this, worker, life = at(worker).life, action = std::move(action)] {
      if (at(worker).life == life) action();
    });
  }

 private:
  Clock& clock_;
  std::vector<Worker> workers_;
  double origin_s_ = 0;
};

}  // namespace longhaul
