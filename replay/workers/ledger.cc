#include "replay/workers/ledger.h"

#include <algorithm>

#include "replay/work/trace_steps.h"

namespace longhaul {

Ledger::Ledger(const Trace& trace, ReplayOutputs& outputs)
    : trace_(trace), outputs_(outputs), accounts_(as_index(worker_count(trace))) {}

void Ledger::begin_compute(int worker, double now_s, double seconds, std::int64_t steps) {
  Account& account = at(worker);
  account.totals.compute_s += seconds;
  account.begun_s = now_s;
  account.planned = {steps, seconds};
  account.is_computed = false;
}

void Ledger::begin_passes(int worker, double now_s) {
  Account& account = at(worker);
  account.begun_s = now_s;
  account.planned.steps = 1;
  account.is_computed = false;
}

void Ledger::end_passes(int worker, int step, int stage, const PipelineRun::WorkerTimes& times) {
  ReplicaTotals& totals = at(worker).totals;
  totals.compute_s += times.compute_s;
  totals.idle_s += times.bubble_s + times.network_s;
  totals.bubble_s += times.bubble_s;
  totals.stage_wait_s += times.network_s;
  totals.bytes_sent += times.bytes_sent;
  at(worker).planned.seconds = times.compute_s;
  if (outputs_.records(step)) outputs_.add_pipeline(step, {worker, stage, times});
}

void Ledger::cut_passes(int worker, int step, int stage, const PipelineRun::WorkerTimes& times) {
  end_passes(worker, step, stage, times);
  count_lost(worker, {0, times.compute_s});
}

void Ledger::end_tasks(int worker, double now_s, double computed_s) {
  Account& account = at(worker);
  const double waited_s = now_s - account.begun_s - computed_s;
  account.totals.compute_s += computed_s;
  account.totals.idle_s += waited_s;
  account.totals.inside_wait_s += waited_s;
  account.planned.seconds = computed_s;
}

void Ledger::end_compute(int worker, double now_s) {
  Account& account = at(worker);
  account.computed_s = now_s;
  account.is_computed = true;
  account.computed.seconds += account.planned.seconds;
  account.computed.steps += account.planned.steps;
}

void Ledger::end_waits(int worker, int step, double now_s) {
  Account& account = at(worker);
  account.totals.idle_s += now_s - account.computed_s;
  if (outputs_.records(step)) outputs_.add_step(step, {worker, account.computed_s, now_s});
}

Work Ledger::unshared(int worker) const {
  const Account& account = at(worker);
  return {account.computed.steps - account.settled.steps, account.computed.seconds - account.settled.seconds};
}

Work Ledger::take_unshared(int worker, const Work& until) {
  Account& account = at(worker);
  const Work reached{std::max(account.settled.steps, until.steps),
                     std::max(account.settled.seconds, until.seconds)};
  const Work taken{reached.steps - account.settled.steps, reached.seconds - account.settled.seconds};
  account.settled = reached;
  return taken;
}

void Ledger::crash(int worker, const CrashTime& time, AfterCrash then, bool is_in_passes, bool takes_step) {
  Account& account = at(worker);
  account.crashed_s = time.now_s;
  if (account.is_computed) {
    account.totals.idle_s += time.now_s - account.computed_s;
    account.totals.cut_wait_s += time.now_s - time.waits_from_s;
    if (then == AfterCrash::kGoesOn) return;
    if (!takes_step) account.planned.steps = 0;
    lose_step(worker);
  } else if (!is_in_passes) {
    const double done_s = std::clamp(time.now_s - account.begun_s, 0., account.planned.seconds);
    account.totals.compute_s -= account.planned.seconds - done_s;
    count_lost(worker, {0, done_s});
  }
}

// The one that it has computed last.
void Ledger::lose_step(int worker) {
  Account& account = at(worker);
  count_lost(worker, account.planned);
  account.computed.seconds -= account.planned.seconds;
  account.computed.steps -= account.planned.steps;
  account.settled.seconds = std::min(account.settled.seconds, account.computed.seconds);
  account.totals.useful_steps -= std::max<std::int64_t>(0, account.settled.steps - account.computed.steps);
  account.settled.steps = std::min(account.settled.steps, account.computed.steps);
}

void Ledger::come_back(int worker, double now_s, bool has_own_state, bool repeats) {
  at(worker).computed_s = now_s;
  if (repeats) lose_step(worker);
  if (!has_own_state) count_lost(worker, take_unshared(worker));
}

}  // namespace longhaul
