#include "replay/absence/membership.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/hash.h"
#include "core/base/index.h"
#include "core/base/random.h"
#include "core/plan/program.h"
#include "replay/absence/replay_with_absences.h"

namespace longhaul {
namespace {

// Exchanges that crash after crash cuts short are kept until the end.
constexpr int kMostIdleEvents = 5000;
constexpr int kMostVainEvents = 2000000;

bool ends_an_operation(const Trace& trace, int step) {
  const Program program = program_of_step(trace.plan, trace.context.steps, step);
  return std::any_of(
      program.instructions.begin(), program.instructions.end(),
      [](const Instruction& instruction) { return instruction.kind == Instruction::Kind::kAwait; });
}

}  // namespace

double state_bytes_of(const RecoverySpec& recovery, const OperationPlan& plan) {
  // Weights and the two moments. What codecs feed back is each replica's own.
  return recovery.state_bytes.value_or(4. * (3 + static_cast<double>(plan.keeps.size())));
}

Membership::Membership(const Case& config, const Trace& trace, const ExchangeContext& context,
                       ReplayOutputs& outputs, const Workers& workers, ReplayWithAbsences& replay)
    : case_(config),
      trace_(trace),
      context_(context),
      outputs_(outputs),
      workers_(workers),
      replay_(replay),
      on_failure_(on_failure_of(config.recovery, trace.plan)),
      listens_(keeps_replicas_alike(trace.plan)),
      state_bytes_(std::max<std::int64_t>(1, std::llround(state_bytes_of(config.recovery, trace.plan) *
                                                          static_cast<double>(config.workload.parameters)))),
      members_(as_index(trace.context.replicas)),
      faults_(config) {}

void Membership::start() {
  faults_.start(context_.clock, [this](int replica, bool is_struck) { change(replica, is_struck); });
}

void Membership::change(int replica, bool is_struck) {
  Member& member = at(replica);
  const bool is_vain = is_struck != member.is_up;
  if (is_vain ? ++vain_events_ > kMostVainEvents : ++idle_events_ > kMostIdleEvents) replay_.fail();
  if (is_vain) return;
  member.is_up = !is_struck;
  is_struck ? crash(replica) : come_back(replica);
}

void Membership::crash(int replica) {
  Member& member = at(replica);
  ++member.crashes;
  if (member.is_joining) {  // it had not begun
    member.is_joining = member.has_state = false;
    --joining_;
    member.row.back_s = member.row.state_s = -1;
    return detect(replica);
  }
  member.is_there = false;
  if (replay_.has_ended(replica)) return;
  const int ended_step = replay_.step_of(replica) - 1;
  member.row = {{replica, replay_.stop(replica), ended_step}, workers_.now()};
  if (waits()) return;
  context_.clock.after(case_.recovery.detect_s, [this, replica, crashes = member.crashes] {
    if (at(replica).crashes == crashes && !at(replica).is_missed && !at(replica).is_there) detect(replica);
  });
}

void Membership::detect(int replica) {
  at(replica).is_missed = true;
  replay_.lose(replica);
  for (int other = 0; joining_ > 0 && other < static_cast<int>(members_.size()); ++other) {
    const Member joining = at(other);
    if (!joining.is_joining) continue;
    if (joining.source == replica && (!joining.has_state || !listens_))
      join(other);
    else if (joining.has_state && !is_anybody_there())
      begin(other, first_step(joining, joining.copied_step + 1), joining.source, joining.copied_step);
  }
}

bool Membership::has_anybody_ended() const {
  for (int replica = 0; replica < static_cast<int>(members_.size()); ++replica)
    if (replay_.has_ended(replica)) return true;
  return false;
}

// None that it has taken before, and none whose rows are written.
int Membership::first_step(const Member& member, int wanted) const {
  return std::min(std::max({wanted, replay_.lowest_step(), member.row.absence.left_step}),
                  trace_.context.steps);
}

bool Membership::is_anybody_there() const {
  for (int replica = 0; replica < static_cast<int>(members_.size()); ++replica)
    if (is_there(replica)) return true;
  return has_anybody_ended();
}

void Membership::come_back(int replica) {
  Member& member = at(replica);
  if (replay_.has_ended(replica)) return;
  member.row.back_s = workers_.now();
  if (waits()) {
    member.row.joined_s = member.row.back_s;
    member.row.absence.first_step = replay_.step_of(replica);
    member.gone_s += member.row.joined_s - member.row.left_s;
    outputs_.add_absence(member.row);
    member.is_there = true;
    for (const auto& [step, plan] : replay_.open_plans()) plan->redo(replica, replay_.step_of(replica));
    return replay_.redo(replica);
  }
  if (!member.is_missed) detect(replica);
  join(replica);
}

int Membership::draw_source(int replica) {
  std::vector<int> there;
  for (int other = 0; other < static_cast<int>(members_.size()); ++other)
    if (is_there(other) && !replay_.has_ended(other)) there.push_back(other);
  if (there.empty()) return -1;
  RandomStream stream(case_.seed ^ fnv1a("source of a download"), Purpose::kFaults,
                      static_cast<std::uint32_t>(replica),
                      static_cast<std::uint32_t>(at(replica).downloads++));
  return there[as_index(static_cast<int>(stream.uniform() * static_cast<double>(there.size())))];
}

void Membership::join(int replica) {
  Member& member = at(replica);
  const int source = draw_source(replica);
  if (source < 0 && has_anybody_ended()) return;  // nobody is left to train with
  const int step = source < 0 ? first_step(member, 1) : replay_.step_of(source);
  if (source < 0 || !case_.recovery.downloads_state) {
    const int first = first_step(member, step);
    if (listens_ && !member.is_joining)
      for (const auto& [of, plan] : replay_.open_plans())
        if (of >= first) plan->admit(replica, false);
    return begin(replica, first, -1, 0);
  }
  const bool is_first = !member.is_joining;
  if (is_first) ++joining_;
  member.is_joining = true;
  member.has_state = false;
  member.source = source;
  member.copied_step = step - 1;
  if (is_first && listens_) {
    member.listens_from = step;
    for (const auto& [of, plan] : replay_.open_plans())
      if (listens_at(member, of)) plan->admit(replica, true);
  }
  member.row.bytes += state_bytes_;
  const PipelinePlan& pipeline = trace_.plan.pipeline;
  member.stages_to_come = pipeline.stages;
  for (int stage = 0; stage < pipeline.stages; ++stage) download(replica, stage, step);
}

// Of one stage, from its worker in the source.
void Membership::download(int replica, int stage, int step) {
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
  context_.network.send({from, to, std::max<std::int64_t>(1, bytes), {step, rule, from, member.downloads}},
                        [this, replica, source = member.source, crashes = member.crashes,
                         downloads = member.downloads, of_source = at(member.source).crashes] {
                          Member& now = at(replica);
                          if (now.crashes != crashes || now.downloads != downloads) return;
                          if (at(source).crashes != of_source) return;  // detect() draws another
                          if (--now.stages_to_come == 0) state_arrived(replica);
                        });
}

void Membership::state_arrived(int replica) {
  Member& member = at(replica);
  member.has_state = true;
  member.row.state_s = workers_.now();
  if (!listens_) {
    const int step = replay_.step_of(member.source);
    if (step >= member.row.absence.left_step) begin(replica, step, member.source, member.copied_step);
    return;  // else left_step() begins it
  }
  for (const auto& [step, plan] : replay_.open_plans())
    if (at(replica).is_joining && listens_at(member, step)) plan->release(replica);
}

// Behind the last step nobody begins any more.
bool Membership::listens_at(const Member& member, int step) const {
  return listens_ && step >= member.listens_from && step < trace_.context.steps;
}

// Who takes part is agreed on when a step begins, so that one that went in its compute fails its operations,
// even if the others know before they come to these.
bool Membership::went_in(int replica, int step) const {
  const Member& member = members_[as_index(replica)];
  return on_failure_ == RecoverySpec::OnFailure::kDiscard && !member.is_there &&
         member.row.absence.left_step == step && replay_.step_of(replica) == step;
}

Attendance Membership::attendance(int step) const {
  Attendance attendance;
  attendance.discards = on_failure_ == RecoverySpec::OnFailure::kDiscard;
  for (int replica = 0; replica < static_cast<int>(members_.size()); ++replica) {
    const Member& member = members_[as_index(replica)];
    Attendance::Role role = Attendance::Role::kAbsent;
    const bool is_expected = waits() || member.is_there || (!member.is_missed && !member.is_joining);
    if (is_expected && !replay_.has_ended(replica) && replay_.step_of(replica) <= step)
      role = Attendance::Role::kMember;
    if (member.is_joining && listens_at(member, step)) role = Attendance::Role::kListener;
    if (went_in(replica, step)) role = Attendance::Role::kMember;  // made() loses it
    attendance.roles.push_back(role);
  }
  return attendance;
}

void Membership::made(StepPlan& plan, int step) {
  if (on_failure_ == RecoverySpec::OnFailure::kDiscard)
    for (int replica = 0; replica < static_cast<int>(members_.size()); ++replica)
      if (went_in(replica, step) && at(replica).is_missed) plan.lose(replica);
  if (joining_ == 0) return;
  for (int replica = 0; replica < static_cast<int>(members_.size()); ++replica)
    if (at(replica).is_joining && at(replica).has_state && listens_at(at(replica), step))
      plan.release(replica);
}

void Membership::left_step(int replica, int step) {
  idle_events_ = vain_events_ = 0;
  if (joining_ == 0 || step == trace_.context.steps) return;
  if (listens_ && !ends_an_operation(trace_, step)) return;
  for (int other = 0; other < static_cast<int>(members_.size()); ++other) {
    const Member& joining = at(other);
    if (!joining.is_joining || !joining.has_state || step < joining.listens_from) continue;
    if (step + 1 < joining.row.absence.left_step) continue;  // it has taken that step
    if (!listens_ && joining.source != replica) continue;    // it waits for its source
    begin(other, step + 1, replica, step);
  }
}

void Membership::begin(int replica, int step, int source, int copied_step) {
  Member& member = at(replica);
  const bool listened = member.is_joining && listens_;
  if (member.is_joining) --joining_;
  member.is_joining = member.has_state = member.is_missed = false;
  member.is_there = true;
  member.row.absence.source = source;
  member.row.absence.copied_step = copied_step;
  member.row.joined_s = workers_.now();
  member.row.absence.first_step = step;
  member.gone_s += member.row.joined_s - member.row.left_s;
  outputs_.add_absence(member.row);
  if (listened)
    for (const auto& [of, plan] : replay_.open_plans())
      if (of >= step) plan->promote(replica);
  replay_.begin(replica, step);
}

bool Membership::is_gone(int replica) const {
  return !is_there(replica) && !replay_.has_ended(replica);
}

double Membership::gone_s(int replica) const {
  const Member& member = members_[as_index(replica)];
  return member.gone_s + (is_gone(replica) ? workers_.now() - member.row.left_s : 0);
}

void Membership::finish() {
  for (int replica = 0; replica < static_cast<int>(members_.size()); ++replica)
    if (is_gone(replica)) outputs_.add_absence(at(replica).row);
}

}  // namespace longhaul
