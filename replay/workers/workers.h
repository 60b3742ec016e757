// The workers of a replay: where each is in the program of its step. Times are seconds since training began,
// but for those of the clock.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "replay/exchange/step_plan.h"
#include "replay/network/clock.h"
#include "replay/pipeline/pipeline_run.h"
#include "replay/work/life.h"
#include "replay/workers/work.h"

namespace longhaul {

struct Worker {
  // An operation that it has posted.
  struct Waited {
    std::shared_ptr<StepPlan> plan;  // keeps the run alive
    GroupOperation* run = nullptr;
    Work computed;  // what the worker had when it posted
  };

  int step = 0;
  int ended_step = 0;  // the last one that it has ended
  bool is_waiting = false;
  bool has_ended = false;          // its last step
  std::shared_ptr<StepPlan> plan;  // of the step; null where nothing but compute happens
  std::size_t next = 0;            // instruction of its program
  std::vector<Waited> blocking;    // of this step, one after another
  std::vector<Waited> overlapped;  // posted earlier, awaited at the end of a step to come
  WorkerClocks clocks;             // with stages
  Life life;                       // a crash ends it

  // Null: it has not come to post that.
  const Waited* posted(const GroupOperation& run) const {
    for (const std::vector<Waited>* all : {&blocking, &overlapped})
      for (const Waited& waited : *all)
        if (waited.run == &run) return &waited;
    return nullptr;
  }
};

// With stages every replica has a worker for each: worker_of(replica, stage, stages).
class Workers {
 public:
  Workers(Clock& clock, int replicas, int stages)
      : clock_(clock), stages_(stages), workers_(as_index(replicas * stages)) {}

  // Of the clock: training begins.
  void set_origin(double origin_s) { origin_s_ = origin_s; }

  int count() const { return static_cast<int>(workers_.size()); }
  int stages() const { return stages_; }
  Worker& at(int worker) { return workers_[as_index(worker)]; }
  const Worker& at(int worker) const { return workers_[as_index(worker)]; }

  // Of a replica: the step that all of its workers are at, or were at last, or beyond.
  int step_of(int replica) const {
    int step = std::numeric_limits<int>::max();
    each_of(replica, [&](const Worker& worker) { step = std::min(step, worker.step); });
    return step;
  }
  // Whether all of its workers have ended their last step; or this one.
  bool has_ended(int replica) const {
    bool has = true;
    each_of(replica, [&](const Worker& worker) { has = has && worker.has_ended; });
    return has;
  }
  bool has_ended(int replica, int step) const {
    bool has = true;
    each_of(replica, [&](const Worker& worker) { has = has && worker.ended_step >= step; });
    return has;
  }

  double since_origin(double time_s) const { return seconds_between(origin_s_, time_s); }
  double now() const { return since_origin(clock_.now_s()); }

  // Calls `action` so much later, unless the worker has crashed until then.
  template <typename Action>
  void after(double seconds, int worker, Action action) {
    at(worker).life.after(clock_, seconds, std::move(action));
  }

 private:
  template <typename Look>
  void each_of(int replica, const Look& look) const {
    for (int stage = 0; stage < stages_; ++stage) look(at(worker_of(replica, stage, stages_)));
  }

  Clock& clock_;
  int stages_;
  std::vector<Worker> workers_;
  double origin_s_ = 0;
};

}  // namespace longhaul
