#include "replay/absence/churn.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/errors.h"
#include "core/base/hash.h"
#include "core/base/index.h"
#include "core/base/random.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

// Above these no replica is taken to end a step ever again.
constexpr int kMostIdleEvents = 5000;
constexpr int kMostVainEvents = 2000000;

}  // namespace

double state_bytes_of(const RecoverySpec& recovery, const OperationPlan& plan) {
  // Weights and the two moments. What codecs feed back is each replica's own.
  return recovery.state_bytes.value_or(4. * (3 + static_cast<double>(plan.keeps.size())));
}

Churn::Churn(const Case& config, const Trace& trace, const Replay& replay)
    : case_(config),
      trace_(trace),
      replay_(replay),
      on_failure_(on_failure_of(config.recovery, trace.plan)),
      listens_(keeps_replicas_alike(trace.plan)),
      state_bytes_(std::max<std::int64_t>(1, std::llround(state_bytes_of(config.recovery, trace.plan) *
                                                          static_cast<double>(config.workload.parameters)))),
      members_(as_index(trace.context.replicas)),
      faults_(config) {
  replay_.outputs.expect_absences();
}

void Churn::start(std::vector<PresenceListener*> listeners) {
  listeners_ = std::move(listeners);
  faults_.start(replay_.context.clock, [this](int replica, bool is_struck) { change(replica, is_struck); });
}

void Churn::change(int replica, bool is_struck) {
  Member& member = at(replica);
  const bool is_vain = is_struck != member.is_up;
  if (is_vain ? ++vain_events_ > kMostVainEvents : ++idle_events_ > kMostIdleEvents) fail();
  if (is_vain) return;
  member.is_up = !is_struck;
  is_struck ? crash(replica) : come_back(replica);
}

void Churn::crash(int replica) {
  Member& member = at(replica);
  member.life.end();
  member.download.end();
  if (member.is_joining) {  // it had not begun
    member.is_joining = member.has_state = member.awaits_source = false;
    --joining_;
    member.row.back_s = member.row.state_s = -1;
    if (!listens_) return detect(replica);  // nobody waits for it
    member.is_lost_listener = true;
    tell([&](PresenceListener& listener) { listener.on_listener_crash(replica); });
    member.detection.after(replay_.context.clock, case_.recovery.detect_s,
                           [this, replica] { detect(replica); });
    return;
  }
  member.is_there = false;
  if (replay_.workers.has_ended(replica)) return;
  member.row = {{replica, first_step_not_computed(replica), replay_.workers.step_of(replica) - 1},
                replay_.workers.now()};
  tell([&](PresenceListener& listener) { listener.on_crash(replica); });
  if (repeats_steps()) return;
  member.detection.after(replay_.context.clock, case_.recovery.detect_s,
                         [this, replica] { detect(replica); });
}

void Churn::detect(int replica) {
  at(replica).is_missed = true;
  at(replica).is_lost_listener = false;
  at(replica).detection.end();
  tell([&](PresenceListener& listener) { listener.on_failure_detected(replica); });
  for (int other = 0; joining_ > 0 && other < replicas(); ++other) {
    const Member& joining = at(other);
    if (!joining.is_joining) continue;
    if (joining.source == replica && (!joining.has_state || !listens_))
      join(other);
    else if (joining.has_state && !is_anybody_there())
      begin(other, first_step(joining, joining.copied_step + 1), joining.source, joining.copied_step);
  }
}

int Churn::first_step_not_computed(int replica) const {
  int first = 0;
  const int stages = replay_.workers.stages();
  for (int stage = 0; stage < stages; ++stage) {
    const int worker = worker_of(replica, stage, stages);
    const Worker& state = replay_.workers.at(worker);
    const bool has_computed = state.has_ended || replay_.ledger.is_computed(worker);
    first = std::max(first, has_computed ? state.step + 1 : state.step);
  }
  return first;
}

bool Churn::has_anybody_ended() const {
  for (int replica = 0; replica < replicas(); ++replica)
    if (replay_.workers.has_ended(replica)) return true;
  return false;
}

// None that it has taken before, and none whose rows are written.
int Churn::first_step(const Member& member, int wanted) const {
  return std::min(std::max({wanted, replay_.at_work.lowest(), member.row.absence.left_step}),
                  trace_.context.steps);
}

bool Churn::is_anybody_there() const {
  for (int replica = 0; replica < replicas(); ++replica)
    if (at(replica).is_there) return true;
  return has_anybody_ended();
}

void Churn::come_back(int replica) {
  Member& member = at(replica);
  if (replay_.workers.has_ended(replica)) return;
  member.row.back_s = replay_.workers.now();
  if (repeats_steps()) return resume(replica);
  if (!member.is_missed || member.is_lost_listener) detect(replica);
  join(replica);
}

void Churn::resume(int replica) {
  Member& member = at(replica);
  const int step = replay_.workers.step_of(replica);
  member.row.joined_s = member.row.back_s;
  member.row.absence.first_step = step;
  member.gone_s += member.row.joined_s - member.row.left_s;
  replay_.outputs.add_absence(member.row);
  member.is_there = true;
  tell([&](PresenceListener& listener) { listener.on_resume(replica, step); });
}

int Churn::draw_source(int replica) {
  std::vector<int> there;
  for (int other = 0; other < replicas(); ++other)
    if (at(other).is_there && !replay_.workers.has_ended(other)) there.push_back(other);
  if (there.empty()) return -1;
  RandomStream stream(case_.seed ^ fnv1a("source of a download"), Purpose::kFaults,
                      static_cast<std::uint32_t>(replica),
                      static_cast<std::uint32_t>(at(replica).downloads++));
  return there[as_index(static_cast<int>(stream.uniform() * static_cast<double>(there.size())))];
}

void Churn::join(int replica) {
  Member& member = at(replica);
  const int source = draw_source(replica);
  if (source < 0 && has_anybody_ended()) return;  // nobody is left to train with
  const int step = source < 0 ? first_step(member, 1) : replay_.workers.step_of(source);
  if (source < 0 || !case_.recovery.downloads_state) return begin(replica, first_step(member, step), -1, 0);
  member.download.end();
  const bool is_first = !member.is_joining;
  if (is_first) ++joining_;
  member.is_joining = true;
  member.has_state = false;
  member.source = source;
  member.copied_step = step - 1;
  if (is_first && listens_) {
    member.ends.clear();
    member.results.clear();
    member.listens_from = listen(replica, step);
  }
  if (listens_) member.copied_step = std::max(member.copied_step, last_end_before(member.listens_from));
  member.awaits_source = !replay_.workers.has_ended(source, member.copied_step);
  if (!member.awaits_source) download(replica);
}

int Churn::listen(int replica, int step) {
  for (PresenceListener* listener : listeners_) step = listener->on_listening(replica, step);
  return step;
}

// The last step that ends an operation among everyone which a replica that listens from this step on is not
// in; before the first one that ends another, for which its source waits.
int Churn::last_end_before(int listens_from) const {
  int last = 0, first_listened = trace_.context.steps;
  for (const OperationRule& rule : trace_.plan.rules) {
    if (!rule.is_of_everyone()) continue;
    int before = listens_from - 1, from = listens_from;
    while (before > 0 && !is_posted_at(rule, trace_.context.steps, before)) --before;
    while (from < trace_.context.steps && !is_posted_at(rule, trace_.context.steps, from)) ++from;
    if (before > 0) last = std::max(last, before + rule.overlap_steps);
    first_listened = std::min(first_listened, from + rule.overlap_steps);
  }
  return std::min(last, first_listened - 1);
}

void Churn::download(int replica) {
  Member& member = at(replica);
  member.awaits_source = false;
  member.row.bytes += state_bytes_;
  const PipelinePlan& pipeline = trace_.plan.pipeline;
  member.stages_to_come = pipeline.stages;
  for (int stage = 0; stage < pipeline.stages; ++stage) download(replica, stage);
}

// Of one stage, from its worker in the source.
void Churn::download(int replica, int stage) {
  Member& member = at(replica);
  const int stages = trace_.plan.pipeline.stages, rule = static_cast<int>(trace_.plan.rules.size()) + 2;
  const int from = worker_of(member.source, stage, stages), to = worker_of(replica, stage, stages);
  std::int64_t bytes = state_bytes_;
  if (stages > 1) {
    double columns = 0;
    for (const ColumnRange& range : trace_.plan.pipeline.columns_of(stage))
      columns += static_cast<double>(range.size());
    bytes = std::llround(static_cast<double>(state_bytes_) * columns /
                         static_cast<double>(trace_.context.parameters));
  }
  // If the source crashes, detect() draws another.
  const auto arrived = at(member.source).life.during([this, replica] {
    if (--at(replica).stages_to_come == 0) state_arrived(replica);
  });
  member.download.send(
      replay_.context.network,
      {from, to, std::max<std::int64_t>(1, bytes), {member.copied_step + 1, rule, from, member.downloads}},
      arrived);
}

void Churn::state_arrived(int replica) {
  Member& member = at(replica);
  member.has_state = true;
  member.row.state_s = replay_.workers.now();
  if (!listens_) {
    const int step = replay_.workers.step_of(member.source);
    if (step >= member.row.absence.left_step) begin(replica, step, member.source, member.copied_step);
    return;  // else left_step() begins it
  }
  tell([&](PresenceListener& listener) { listener.on_state_arrived(replica); });
}

// Behind the last step nobody begins any more: only who is about to begin with that listens to it.
bool Churn::listens_at(const Member& member, int step) const {
  if (!listens_ || step < member.listens_from) return false;
  return step < trace_.context.steps || (member.has_state && has_listened_to_all_of(member, step - 1));
}

bool Churn::has_listened_to_all_of(const Member& member, int step) const {
  const std::vector<Instruction> ended = ended_by(step);
  return !ended.empty() && std::all_of(ended.begin(), ended.end(), [&](const Instruction& await) {
    return await.post_step >= member.listens_from;
  });
}

// Who takes part is agreed on when a step begins, so that one that went in its compute fails its operations,
// even if the others know before they come to these.
bool Churn::went_in(int replica, int step) const {
  const Member& member = at(replica);
  return on_failure_ == RecoverySpec::OnFailure::kDiscard && !member.is_there &&
         member.row.absence.left_step == step && replay_.workers.step_of(replica) == step;
}

Attendance Churn::attendance(int step) const {
  Attendance attendance;
  attendance.discards = on_failure_ == RecoverySpec::OnFailure::kDiscard;
  for (int replica = 0; replica < replicas(); ++replica) {
    const Member& member = at(replica);
    Attendance::Role role = Attendance::Role::kAbsent;
    const bool is_expected = repeats_steps() || member.is_there || (!member.is_missed && !member.is_joining);
    if (is_expected && !replay_.workers.has_ended(replica) && replay_.workers.step_of(replica) <= step)
      role = Attendance::Role::kMember;
    if ((member.is_joining || member.is_lost_listener) && listens_at(member, step))
      role = Attendance::Role::kListener;
    if (went_in(replica, step)) {
      role = Attendance::Role::kMember;
      if (member.is_missed) attendance.lost.push_back(replica);
    }
    attendance.roles.push_back(role);
  }
  return attendance;
}

bool Churn::is_ready_listener(int replica, int step) const {
  const Member& member = at(replica);
  return member.is_joining && member.has_state && listens_at(member, step);
}

void Churn::ended_step(int worker) {
  const int step = replay_.workers.at(worker).ended_step, replica = worker / replay_.workers.stages();
  if (replay_.workers.has_ended(replica, step)) left_step(replica, step);
}

// A replica goes on to the next step.
void Churn::left_step(int replica, int step) {
  idle_events_ = vain_events_ = 0;
  if (joining_ == 0 || step == trace_.context.steps) return;
  const bool ends_something = listens_ && !ended_by(step).empty();
  for (int other = 0; other < replicas(); ++other) {
    Member& joining = at(other);
    if (!joining.is_joining) continue;
    if (joining.awaits_source && joining.source == replica && step >= joining.copied_step) download(other);
    if (!joining.has_state) continue;
    if (step + 1 < joining.row.absence.left_step) continue;  // it has taken that step
    if (ends_something) {
      joining.ends.push_back({step, replica, at(replica).life.watch()});
      begin_listener(other);
    } else if (!listens_ && joining.source == replica) {  // it waits for its source
      begin(other, step + 1, replica, step);
    }
  }
}

void Churn::has_result(int worker, int rule, int post_step) {
  if (joining_ == 0 || !listens_) return;
  const int replica = worker / replay_.workers.stages();
  if (!at(replica).is_joining) return;
  at(replica).results.insert({rule, post_step});
  begin_listener(replica);
}

// The operations among everyone that are awaited at its end.
std::vector<Instruction> Churn::ended_by(int step) const {
  std::vector<Instruction> ended;
  for (const Instruction& instruction : program_of_step(trace_.plan, trace_.context.steps, step).instructions)
    if (instruction.kind == Instruction::Kind::kAwait &&
        trace_.plan.rules[as_index(instruction.rule)].is_of_everyone())
      ended.push_back(instruction);
  return ended;
}

bool Churn::has_results_of(const Member& member, int step) const {
  const std::vector<Instruction> ended = ended_by(step);
  return !ended.empty() && std::all_of(ended.begin(), ended.end(), [&](const Instruction& await) {
    return member.results.count({await.rule, await.post_step}) > 0;
  });
}

// Where it may. A step that all have left is not taken any more.
void Churn::begin_listener(int replica) {
  Member& member = at(replica);
  if (!member.has_state) return;
  for (const StepEnd& end : member.ends)
    if (!end.life.has_ended() && end.step + 1 >= replay_.at_work.lowest() && has_results_of(member, end.step))
      return begin(replica, end.step + 1, end.replica, end.step);
}

void Churn::begin(int replica, int step, int source, int copied_step) {
  Member& member = at(replica);
  const bool listened = member.is_joining && listens_;
  if (member.is_joining) --joining_;
  member.is_joining = member.has_state = member.awaits_source = member.is_missed = false;
  member.is_there = true;
  member.row.absence.source = source;
  member.row.absence.copied_step = copied_step;
  member.row.joined_s = replay_.workers.now();
  member.row.absence.first_step = step;
  member.gone_s += member.row.joined_s - member.row.left_s;
  replay_.outputs.add_absence(member.row);
  const PresenceListener::Return as = listened   ? PresenceListener::Return::kListener
                                      : listens_ ? PresenceListener::Return::kMember
                                                 : PresenceListener::Return::kApart;
  tell([&](PresenceListener& listener) { listener.on_return(replica, step, as, source < 0); });
}

bool Churn::is_gone(int replica) const {
  return !at(replica).is_there && !replay_.workers.has_ended(replica);
}

int Churn::gone() const {
  int gone = 0;
  for (int replica = 0; replica < replicas(); ++replica) gone += is_gone(replica) ? 1 : 0;
  return gone;
}

double Churn::gone_s(int replica) const {
  const Member& member = at(replica);
  return member.gone_s + (is_gone(replica) ? replay_.workers.now() - member.row.left_s : 0);
}

void Churn::finish() {
  for (int replica = 0; replica < replicas(); ++replica)
    if (is_gone(replica)) replay_.outputs.add_absence(at(replica).row);
}

void Churn::fail() const {
  int ended = 0;
  for (int replica = 0; replica < replicas(); ++replica) ended += replay_.workers.has_ended(replica) ? 1 : 0;
  throw RunError(fmt::format(
      "no replica completes a step: faults are more frequent than steps, or a replica that the others wait "
      "for never returns; of {} replicas {} have ended and {} are gone, the others are at steps {} and "
      "above, "
      "after {}; rarer faults, shorter steps or another recovery.on_failure may help",
      replicas(), ended, gone(), replay_.at_work.lowest(), human_duration(replay_.workers.now())));
}

}  // namespace longhaul
