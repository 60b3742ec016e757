#include "replay/absence/replay_with_absences.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/errors.h"
#include "core/base/units.h"

namespace longhaul {

ReplayWithAbsences::ReplayWithAbsences(const Case& config, const Trace& trace, const std::string& folder,
                                       ProgressReporter& reporter, Clock& clock,
                                       const NetworkMaker& network_of)
    : PlainReplay(config, trace, folder, reporter, clock, network_of),
      stages_(trace.plan.pipeline.stages),
      membership_(config, trace_, context_, outputs_, workers_, *this) {
  outputs_.expect_absences();
}

void ReplayWithAbsences::begin_training() {
  PlainReplay::begin_training();
  membership_.start();
}

std::shared_ptr<StepPlan> ReplayWithAbsences::make_plan(int step,
                                                        const StepPlan::MemberDone& on_member_done) {
  return std::make_shared<StepPlan>(context_, trace_, membership_.attendance(step), step, on_member_done);
}

void ReplayWithAbsences::note_finished(const GroupOperation& run) {
  const auto& attended = static_cast<const AttendedExchange&>(run);
  const bool is_discarded = attended.is_discarded();
  // Neither have a row: who listens passes on what others contribute, and who is lost had begun.
  for (const int listener : attended.members_that(true))
    workers_.at(listener).totals.bytes_sent += attended.times(listener).bytes_sent;
  for (const auto& [lost, bytes] : attended.bytes_of_lost()) workers_.at(lost).totals.bytes_sent += bytes;
  if (is_discarded) outputs_.note_discarded(run.rule().before_optimizer);
  if (!run.participants().empty() || is_discarded)
    outputs_.add_schedule({run.rule_index(), run.step(), &run.participants(),
                           workers_.since_origin(run.start_s()), workers_.since_origin(run.done_s())});
}

void ReplayWithAbsences::ended_step(int worker) {
  const int step = workers_.at(worker).ended_step, replica = worker / stages_;
  if (of_all_workers(replica, [step](const Worker& other) { return other.ended_step >= step; }))
    membership_.left_step(replica, step);
}

int ReplayWithAbsences::gone_replicas() const {
  int gone = 0;
  for (int replica = 0; replica < trace_.context.replicas; ++replica) gone += membership_.is_gone(replica);
  return gone;
}

// Clocks of those who are gone stand where they went.
void ReplayWithAbsences::end_totals() {
  outputs_.close(std::numeric_limits<int>::max());
  membership_.finish();
  for (int worker = 0; worker < workers_.count(); ++worker) {
    Worker& state = workers_.at(worker);
    if (!state.has_ended) state.totals.clock_s = state.is_computed ? state.computed_s : state.begun_s;
    state.totals.gone_s = membership_.gone_s(worker / stages_);
    state.totals.useful_steps += state.unshared_steps;
    // Then a step that was done twice was the same.
    if (membership_.waits())
      state.totals.useful_steps = trace_.plan.dynamic_steps.taken_until(
          worker, state.has_ended ? trace_.context.steps : state.step - 1);
  }
}

int ReplayWithAbsences::step_of(int replica) const {
  int step = std::numeric_limits<int>::max();
  for (int stage = 0; stage < stages_; ++stage)
    step = std::min(step, workers_.at(worker_of(replica, stage, stages_)).step);
  return step;
}

bool ReplayWithAbsences::has_ended(int replica) const {
  return of_all_workers(replica, [](const Worker& worker) { return worker.has_ended; });
}

int ReplayWithAbsences::stop(int replica) {
  int first_step = 0;
  for (int stage = 0; stage < stages_; ++stage)
    first_step = std::max(first_step, stop_worker(worker_of(replica, stage, stages_)));
  clock_.after(0, [this] { stop_if_all_ended(); });
  for (const auto& [step, plan] : open_plans()) plan->cut(replica);
  meetings_->cut(replica);
  return first_step;
}

void ReplayWithAbsences::lose(int replica) {
  for (const auto& [step, plan] : open_plans()) plan->lose(replica);
  meetings_->lose(replica);
}

int ReplayWithAbsences::stop_worker(int worker) {
  Worker& state = workers_.at(worker);
  if (state.has_ended) return state.step + 1;
  ++state.life;
  ReplicaTotals& totals = state.totals;
  if (!state.is_computed && pipelines_) {
    pipelines_->cut(worker);
  } else if (!state.is_computed) {
    const double done_s = std::clamp(workers_.now() - state.begun_s, 0., state.planned_s);
    totals.compute_s -= state.planned_s - done_s;
    state.unshared_s += done_s;
    totals.lost_s += membership_.waits() ? done_s : 0;
  } else {
    totals.idle_s += workers_.now() - state.computed_s;
    totals.lost_s += membership_.waits() ? state.planned_s : 0;
    if (membership_.waits() && state.unshared_steps > 0 &&
        trace_.plan.dynamic_steps.takes(worker, state.step))
      --state.unshared_steps;
  }
  if (!membership_.waits()) {
    totals.lost_s += state.unshared_s;
    state.unshared_s = 0;
    state.unshared_steps = 0;
    state.overlapped.clear();
  } else {
    const auto is_of_this_step = [&](const Worker::Waited& waited) {
      return waited.run->step() == state.step;
    };
    state.overlapped.erase(std::remove_if(state.overlapped.begin(), state.overlapped.end(), is_of_this_step),
                           state.overlapped.end());
  }
  state.blocking.clear();
  state.plan.reset();
  state.is_waiting = false;
  if (!membership_.waits()) at_work_.leave(state.step);
  return state.is_computed ? state.step + 1 : state.step;
}

void ReplayWithAbsences::begin(int replica, int step) {
  for (int stage = 0; stage < stages_; ++stage) {
    Worker& state = workers_.at(worker_of(replica, stage, stages_));
    finished_ -= std::exchange(state.has_ended, false);  // before others of its stages had
    state.step = state.ended_step = step - 1;
    state.computed_s = workers_.now();
    state.clocks = {clock_.now_s(), 0};
  }
  meetings_->begin(replica, step);
  for (int stage = 0; stage < stages_; ++stage) compute(worker_of(replica, stage, stages_));
}

void ReplayWithAbsences::redo(int replica) {
  const int step = workers_.at(replica).step--;
  meetings_->come_back(replica);
  compute(replica);
  at_work_.leave(step);
}

void ReplayWithAbsences::fail() const {
  throw RunError(fmt::format(
      "faults come so often that nobody ends a step, or one that all wait for stays away: of {} replicas "
      "{} have ended and {} are gone, the others are at steps {} and above, after {}; rarer faults, shorter "
      "steps or another recovery.on_failure may help",
      trace_.context.replicas, finished_ / stages_, gone_replicas(), lowest_step(),
      human_duration(workers_.now())));
}

}  // namespace longhaul
