// What the time of each worker came to: compute, waiting, lost, gone; and what it sent.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/index.h"
#include "core/plan/trace.h"
#include "replay/output/outputs.h"
#include "replay/output/rows.h"
#include "replay/pipeline/pipeline_run.h"
#include "replay/workers/work.h"

namespace longhaul {

// The only writer of ReplicaTotals, and of the rows of steps. It is told what a worker does when it begins or
// ends it; `now_s` is seconds since training began.
//
// Work that a worker has computed is unshared until the method has taken it into the model, or has thrown it
// away; the totals then count its steps as useful, or its seconds as lost. An exchange that overlaps takes
// what had been computed when it was posted.
class Ledger {
 public:
  enum class AfterCrash { kGoesOn, kRepeatsStep };

  // Both must outlive it.
  Ledger(const Trace& trace, ReplayOutputs& outputs);

  const ReplicaTotals& totals(int worker) const { return at(worker).totals; }
  // What it has computed in whole steps so far, and what of that is neither in the model nor lost.
  const Work& computed(int worker) const { return at(worker).computed; }
  Work unshared(int worker) const;
  // Whether it has computed the step that it is at; and when it last had.
  bool is_computed(int worker) const { return at(worker).is_computed; }
  double computed_s(int worker) const { return at(worker).computed_s; }

  // It has waited for the samples of the step that it begins.
  void wait_for_batch(int worker, double seconds) {
    at(worker).totals.idle_s += seconds;
    at(worker).totals.batch_wait_s += seconds;
  }
  // The worker computes from now on, for so many seconds, so many steps together.
  void begin_compute(int worker, double now_s, double seconds, std::int64_t steps);
  // It goes through the passes or tasks of one step, in which it waits for others too, until end_passes(),
  // cut_passes() or end_tasks().
  void begin_passes(int worker, double now_s);
  // Those of `step`, in which it served `stage`.
  void end_passes(int worker, int step, int stage, const PipelineRun::WorkerTimes& times);
  // It crashed in them: `times` is what it did until then.
  void cut_passes(int worker, int step, int stage, const PipelineRun::WorkerTimes& times);
  void end_tasks(int worker, double now_s, double computed_s);
  // All compute of its step is over: it waits.
  void end_compute(int worker, double now_s);
  // It waits for nothing any more.
  void end_waits(int worker, int step, double now_s);
  // It has taken its last step.
  void end_training(int worker, double now_s) { at(worker).totals.clock_s = now_s; }

  void send(int worker, std::int64_t bytes) { at(worker).totals.bytes_sent += bytes; }

  // What it has not shared, or of that what it had computed when computed() was `until`, is on its way, in
  // the hands of who asks.
  Work take_unshared(int worker) { return take_unshared(worker, computed(worker)); }
  Work take_unshared(int worker, const Work& until);
  void count_useful(int worker, const Work& work) { at(worker).totals.useful_steps += work.steps; }
  void count_lost(int worker, const Work& work) { at(worker).totals.lost_s += work.seconds; }

  // The worker crashes: in its compute, or while it waits; in passes after cut_passes(). It loses what it has
  // computed of its step, where it does not repeat that only if that is not over. `takes_step`: the step
  // counts (DynamicSteps, core/plan/dynamic_steps.h). `waits_from_s`: since when no row will say that it
  // waited.
  struct CrashTime {
    double now_s = 0, waits_from_s = 0;
  };
  void crash(int worker, const CrashTime& time, AfterCrash then, bool is_in_passes, bool takes_step);
  // It is back, and waits for nothing. With another's state what it had not shared is lost; where it
  // `repeats` the last step that it has computed (the last one of the training), that is lost.
  void come_back(int worker, double now_s, bool has_own_state, bool repeats);

  // At the end of a replay, of a worker that has crashed for good: its clock stands at that time.
  void stop_clock(int worker) { at(worker).totals.clock_s = at(worker).crashed_s; }
  void count_gone(int worker, double seconds) { at(worker).totals.gone_s = seconds; }
  void set_useful_steps(int worker, std::int64_t steps) { at(worker).totals.useful_steps = steps; }

 private:
  void lose_step(int worker);

  struct Account {
    ReplicaTotals totals;
    Work computed, settled;  // settled: of computed, what is in the model or lost
    Work planned;  // of the compute that it is in, or was in last
    double begun_s = 0, computed_s = 0, crashed_s = 0;
    bool is_computed = false;
  };

  Account& at(int worker) { return accounts_[as_index(worker)]; }
  const Account& at(int worker) const { return accounts_[as_index(worker)]; }

  const Trace& trace_;
  ReplayOutputs& outputs_;
  std::vector<Account> accounts_;  // by worker
};

}  // namespace longhaul
