#include "replay/engine/group_synchronization.h"

#include <algorithm>
#include <utility>

namespace longhaul {

void GroupSynchronization::post(int worker, const std::shared_ptr<StepPlan>& plan,
                                const Instruction& instruction) {
  GroupOperation* run = plan->run_of(worker, instruction.rule);
  if (!run) return;
  Worker& state = workers_.at(worker);
  (run->rule().is_blocking() ? state.blocking : state.overlapped)
      .push_back({plan, run, ledger_.computed(worker)});
  if (instruction.bucket < run->rule().buckets) run->release(worker);
}

bool GroupSynchronization::is_done(int worker, const Instruction& await) {
  const Worker& state = workers_.at(worker);
  for (const std::vector<Worker::Waited>* posted : {&state.blocking, &state.overlapped})
    for (const Worker::Waited& waited : *posted)
      if (waited.run->rule_index() == await.rule && waited.run->step() == await.post_step)
        return waited.run->is_done(worker);
  return true;
}

// An awaited exchange shows in the done_s of the last blocking one at the step that needs it.
void GroupSynchronization::end_waits(int worker) {
  Worker& state = workers_.at(worker);
  const double computed_s = ledger_.computed_s(worker);
  double awaited_done_s = 0, awaited_s = computed_s;
  for (const Worker::Waited& waited : state.blocking) awaited_s = std::max(awaited_s, done_s(waited, worker));
  std::vector<Worker::Waited> still_open;
  for (const Worker::Waited& waited : state.overlapped) {
    if (waited.run->step() + waited.run->rule().overlap_steps > state.step) {
      still_open.push_back(waited);
      continue;
    }
    awaited_done_s = std::max(awaited_done_s, done_s(waited, worker));
    write_row(worker, *waited.run, done_s(waited, worker), awaited_s);
  }
  state.overlapped = std::move(still_open);
  for (const Worker::Waited& waited : state.blocking) {
    const bool is_last = &waited == &state.blocking.back();
    const double done = done_s(waited, worker),
                 ready_s = workers_.since_origin(waited.run->times(worker).ready_s);
    // What was released during the compute is awaited from its end on.
    write_row(worker, *waited.run, is_last ? std::max(awaited_done_s, done) : done,
              std::max(ready_s, computed_s));
  }
  state.blocking.clear();
}

void GroupSynchronization::write_row(int worker, const GroupOperation& run, double done_s, double awaited_s) {
  const MemberTimes times = run.times(worker);
  if (!loses_members_) ledger_.send(worker, times.bytes_sent);
  SyncParts parts = times.parts;
  parts.waiting_s += done_s - workers_.since_origin(times.done_s);
  // A member that came too late is passed by: it waits for no start.
  const double start_s = workers_.since_origin(std::max(run.start_s(worker), times.ready_s));
  // What is known of a chain ends where an operation began anew, failed or was fetched.
  const double unknown_s = done_s - start_s - parts.total_s();
  if (loses_members_ && unknown_s > 1e-9) parts.waiting_s += unknown_s;
  outputs_.add_exchange(
      run.step(), run.rule_index(),
      {worker, workers_.since_origin(times.ready_s), start_s, done_s, times.bytes_sent, parts, awaited_s});
  if ((loses_members_ || run.rule().completion.fetches) && !run.is_finished())
    sent_by_row_[&run][worker] = times.bytes_sent;
}

void GroupSynchronization::note_finished(const GroupOperation& run) {
  const auto rows = sent_by_row_.find(&run);
  if (rows == sent_by_row_.end()) return;
  for (const auto& [worker, bytes] : rows->second) {
    const std::int64_t more = run.times(worker).bytes_sent - bytes;
    if (!loses_members_) ledger_.send(worker, more);
    outputs_.add_bytes(run.step(), run.rule_index(), worker, more);
  }
  sent_by_row_.erase(rows);
}

}  // namespace longhaul
