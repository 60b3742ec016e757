#include "replay/engine/synchronizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/base/index.h"

namespace longhaul {

Synchronizer::Synchronizer(const ExchangeContext& context, const Trace& trace, Workers& workers,
                           Ledger& ledger, ReplayOutputs& outputs, std::function<void(int)> on_answered)
    : context_(context),
      trace_(trace),
      workers_(workers),
      ledger_(ledger),
      outputs_(outputs),
      on_answered_(std::move(on_answered)),
      rules_(trace.plan.rules.size()),
      presence_(as_index(trace.context.replicas)) {
  const PlanContext& planned = trace.context;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const OperationRule& plan = trace.plan.rules[i];
    Rule& rule = rules_[i];
    rule.bytes = payload_bytes(plan, planned.parameters, planned.replicas);
    rule.answer_bytes = answer_bytes(plan, planned.parameters);
    rule.contributors.resize(as_index(planned.replicas));
  }
}

bool Synchronizer::is_expected(const Rule& rule, int replica) const {
  const Contributor& contributor = rule.contributors[as_index(replica)];
  if (presence_[as_index(replica)].is_missed) return false;
  return contributor.stage == Stage::kSending ||
         (contributor.may_post && contributor.first_merge <= rule.number);
}

// Whether a replica comes to post after a later step than this one.
bool Synchronizer::posts_behind(int rule, int step) const {
  return step < last_post_step(plan_of(rule), trace_.context.steps);
}

// Nothing where what it posted before is not back.
void Synchronizer::post(int replica, const std::shared_ptr<StepPlan>&, const Instruction& instruction) {
  const int rule = instruction.rule, step = instruction.post_step;
  Contributor& contributor = at(rule, replica);
  contributor.may_post = posts_behind(rule, step);
  if (contributor.stage != Stage::kNone) {
    write({step, rule, {replica, now_s(), now_s(), now_s(), 0, {}, now_s()}});
    return try_merge(rule);
  }
  contributor.stage = Stage::kSending;
  contributor.has_row = false;
  contributor.post_step = step;
  contributor.bytes = 0;
  contributor.posted_s = now_s();
  contributor.awaited_s = -1;
  contributor.chain = {};
  contributor.work = ledger_.take_unshared(replica);
  send(replica, rule);
}

void Synchronizer::send(int replica, int rule) {
  if (replica == kServerReplica) return arrive(replica, rule);
  Contributor& contributor = at(rule, replica);
  const std::int64_t bytes = rules_[as_index(rule)].bytes;
  contributor.is_lost = false;
  ++transfers_;
  contributor.bytes += bytes;
  const auto chain = std::make_shared<SyncParts>();
  contributor.transfer.end();
  contributor.transfer.send(
      context_.network, {replica, kServerReplica, bytes, {contributor.post_step, rule, replica, 0, 0}, false},
      [this, replica, rule, chain] {
        at(rule, replica).chain = *chain;
        arrive(replica, rule);
      },
      chain.get());
}

void Synchronizer::arrive(int replica, int rule) {
  Rule& state = rules_[as_index(rule)];
  Contributor& contributor = at(rule, replica);
  contributor.stage = Stage::kArrived;
  if (contributor.missed >= 0)
    context_.lags->of(rule, plan_of(rule).completion)
        .add_late(std::exchange(contributor.missed, -1), now_s() - contributor.missed_quorum_s);
  for (auto before = state.arrived.begin(); before != state.arrived.end();) {
    if (before->replica != replica) {
      ++before;
      continue;
    }
    ledger_.count_lost(replica, before->work);
    before = state.arrived.erase(before);
  }
  state.arrived.push_back({replica, contributor.post_step, contributor.life.watch(), contributor.posted_s,
                           now_s(), contributor.chain, std::exchange(contributor.work, {})});
  try_merge(rule);
}

void Synchronizer::try_merge(int rule) {
  Rule& state = rules_[as_index(rule)];
  if (state.arrived.empty()) return;
  bool have_all_come = true;
  for (int replica = 0; replica < trace_.context.replicas; ++replica) {
    const bool is_current = state.contributors[as_index(replica)].stage == Stage::kArrived;
    have_all_come &= !is_expected(state, replica) || (is_current && state.has(replica));
  }
  if (have_all_come) return make_merge(rule);
  const Completion& completion = plan_of(rule).completion;
  if (completion.is_all() || state.quorum_s >= 0 ||
      static_cast<int>(state.arrived.size()) < completion.quorum)
    return;
  state.quorum_s = now_s();
  const double grace = context_.lags->grace_s(rule, completion);
  if (std::isinf(grace)) return;
  state.grace.after(context_.clock, grace, [this, rule] { make_merge(rule); });
}

void Synchronizer::note_lags(int rule, const std::vector<Arrived>& members, double quorum_s) {
  Rule& state = rules_[as_index(rule)];
  std::vector<double> lags;
  for (const Arrived& arrived : members)
    if (const double lag = arrived.arrived_s - quorum_s; lag > 0) lags.push_back(lag);
  std::sort(lags.begin(), lags.end());
  const std::int64_t number = context_.lags->of(rule, plan_of(rule).completion).add(lags);
  for (int replica = 0; replica < trace_.context.replicas; ++replica) {
    const bool is_in = std::any_of(members.begin(), members.end(),
                                   [replica](const Arrived& arrived) { return arrived.replica == replica; });
    if (is_in || !is_expected(state, replica)) continue;
    at(rule, replica).missed = number;
    at(rule, replica).missed_quorum_s = quorum_s;
  }
}

void Synchronizer::make_merge(int rule) {
  Rule& state = rules_[as_index(rule)];
  std::vector<Arrived> members = std::exchange(state.arrived, {});
  const double quorum_s = std::exchange(state.quorum_s, -1);
  state.grace.end();
  const Arrived last = members.back();
  MergeRow row{{rule, state.number, {}}, 0, now_s()};
  for (const Arrived& arrived : members) row.start_s = std::max(row.start_s, arrived.posted_s);
  SyncParts chain = last_seconds(last.chain, last.arrived_s - row.start_s);
  chain.waiting_s += now_s() - last.arrived_s;
  if (plan_of(rule).completion.adaptive && quorum_s >= 0) note_lags(rule, members, quorum_s);
  ++state.number;

  std::sort(members.begin(), members.end(),
            [](const Arrived& a, const Arrived& b) { return a.replica < b.replica; });
  for (const Arrived& arrived : members)
    row.merge.contributions.push_back({arrived.replica, arrived.post_step});
  merges_.push_back(std::move(row));
  std::vector<int> answered;
  for (const Arrived& arrived : members) {
    ledger_.count_useful(arrived.replica, arrived.work);
    Contributor& contributor = at(rule, arrived.replica);
    if (arrived.life.has_ended()) continue;
    contributor.stage = Stage::kAnswering;
    contributor.merge = merges_.size() - 1;
    contributor.start_s = merges_.back().start_s;
    contributor.chain = chain;
    answered.push_back(arrived.replica);
  }
  for (const int replica : answered) answer(replica, rule);
}

void Synchronizer::answer(int replica, int rule) {
  Contributor& contributor = at(rule, replica);
  const auto answered = [this, replica, rule] {
    Contributor& now = at(rule, replica);
    now.stage = Stage::kAnswered;
    now.answered_s = now_s();
    on_answered_(replica);
  };
  contributor.is_lost = !presence_[as_index(replica)].is_there;
  if (contributor.is_lost) return;
  if (replica == kServerReplica) return answered();
  ++transfers_;
  const std::int64_t bytes = rules_[as_index(rule)].answer_bytes;
  rules_[as_index(rule)].answered += bytes;
  const auto chain = std::make_shared<SyncParts>(contributor.chain);
  contributor.transfer.end();
  contributor.transfer.send(
      context_.network,
      {kServerReplica, replica, bytes, {contributor.post_step, rule, kServerReplica, replica, 0}, false},
      [this, replica, rule, chain, answered] {
        at(rule, replica).chain = *chain;
        answered();
      },
      chain.get());
}

bool Synchronizer::is_done(int replica, const Instruction& await) {
  const int rule = await.rule, step = workers_.at(replica).step;
  Contributor& contributor = at(rule, replica);
  if (contributor.stage == Stage::kNone) return true;
  const OperationRule& plan = plan_of(rule);
  const int due = contributor.post_step + plan.overlap_steps;
  if (step < due) return true;
  if (contributor.stage != Stage::kAnswered) {
    if (plan.slack_steps < 0 || step < due + plan.slack_steps) return true;
    if (contributor.awaited_s < 0) contributor.awaited_s = now_s();
    return false;
  }
  for (Merge::Contribution& made : merges_[contributor.merge].merge.contributions)
    if (made.replica == replica) made.taken_step = step;
  contributor.stage = Stage::kNone;
  add_row(contributor.post_step, rule,
          {replica, contributor.posted_s, contributor.start_s, contributor.answered_s, contributor.bytes,
           contributor.chain, contributor.awaited_s < 0 ? now_s() : contributor.awaited_s});
  return true;
}

void Synchronizer::add_row_without_times(int replica, int rule) {
  Contributor& contributor = at(rule, replica);
  if (contributor.stage == Stage::kNone || contributor.has_row) return;
  contributor.has_row = true;
  const double posted_s = contributor.posted_s;
  add_row(contributor.post_step, rule,
          {replica, posted_s, posted_s, posted_s, contributor.bytes, {}, posted_s});
}

void Synchronizer::end(int replica) {
  for (int rule = 0; rule < rule_count(); ++rule) add_row_without_times(replica, rule);
}

void Synchronizer::on_crash(int replica) {
  presence_[as_index(replica)].is_there = false;
  for (int rule = 0; rule < rule_count(); ++rule) {
    interrupt(replica, rule);
    at(rule, replica).awaited_s = -1;
  }
}

// What is under way does not arrive.
void Synchronizer::interrupt(int replica, int rule) {
  Contributor& contributor = at(rule, replica);
  contributor.transfer.end();
  contributor.is_lost = contributor.is_lost || contributor.is_under_way();
}

void Synchronizer::repeat(int replica, int rule) {
  const Contributor& contributor = at(rule, replica);
  if (!contributor.is_lost) return;
  contributor.stage == Stage::kSending ? send(replica, rule) : answer(replica, rule);
}

void Synchronizer::close_out(int replica, int rule) {
  Contributor& contributor = at(rule, replica);
  add_row_without_times(replica, rule);
  if (contributor.stage == Stage::kSending) ledger_.count_lost(replica, std::exchange(contributor.work, {}));
  interrupt(replica, rule);
  contributor.stage = Stage::kNone;
  contributor.is_lost = contributor.may_post = false;
  contributor.missed = -1;
  contributor.life.end();
}

void Synchronizer::on_failure_detected(int replica) {
  if (std::exchange(presence_[as_index(replica)].is_missed, true)) return;
  presence_[as_index(replica)].is_there = false;
  for (int rule = 0; rule < rule_count(); ++rule) close_out(replica, rule);
  for (int rule = 0; rule < rule_count(); ++rule) try_merge(rule);
}

void Synchronizer::on_return(int replica, int step, Return, bool) {
  presence_[as_index(replica)] = {};
  for (int rule = 0; rule < rule_count(); ++rule) {
    const Rule& state = rules_[as_index(rule)];
    const bool has_begun =
        std::any_of(state.arrived.begin(), state.arrived.end(),
                    [step](const Arrived& arrived) { return arrived.post_step < step; }) ||
        std::any_of(state.contributors.begin(), state.contributors.end(),
                    [step](const Contributor& contributor) {
                      return contributor.stage == Stage::kSending && contributor.post_step < step;
                    });
    Contributor& contributor = at(rule, replica);
    contributor.may_post = posts_behind(rule, step - 1);
    contributor.first_merge = state.number + (has_begun ? 1 : 0);
  }
}

void Synchronizer::on_resume(int replica, int) {
  presence_[as_index(replica)].is_there = true;
  for (int rule = 0; rule < rule_count(); ++rule) repeat(replica, rule);
}

int Synchronizer::lowest_open_step(int otherwise) const {
  int step = otherwise;
  for (const Rule& rule : rules_) {
    for (const Contributor& contributor : rule.contributors)
      if (contributor.stage != Stage::kNone && !contributor.has_row)
        step = std::min(step, contributor.post_step);
    if (rule.held) step = std::min(step, rule.held->step);
  }
  return step;
}

void Synchronizer::add_row(int step, int rule, ExchangeRow row) {
  if (row.replica != kServerReplica) return write({step, rule, row});
  Rule& state = rules_[as_index(rule)];
  row.bytes += std::exchange(state.answered, 0);
  if (const auto before = std::exchange(state.held, HeldRow{step, rule, row})) write(*before);
}

void Synchronizer::write(HeldRow held) {
  ExchangeRow& row = held.row;
  ledger_.send(row.replica, row.bytes);
  for (double* time_s : {&row.ready_s, &row.start_s, &row.done_s, &row.awaited_s})
    *time_s = workers_.since_origin(*time_s);
  outputs_.add_exchange(held.step, held.rule, row);
}

void Synchronizer::finish() {
  for (int rule = 0; rule < rule_count(); ++rule) {
    for (int replica = 0; replica < trace_.context.replicas; ++replica) add_row_without_times(replica, rule);
    for (const Arrived& arrived : rules_[as_index(rule)].arrived)
      ledger_.count_useful(arrived.replica, arrived.work);
    for (int replica = 0; replica < trace_.context.replicas; ++replica) {
      const Contributor& contributor = at(rule, replica);
      if (contributor.stage != Stage::kSending) continue;
      if (presence_[as_index(replica)].is_there)
        ledger_.count_useful(replica, contributor.work);
      else
        ledger_.count_lost(replica, contributor.work);
    }
  }
  for (Rule& rule : rules_) {
    if (!rule.held) continue;
    rule.held->row.bytes += rule.answered;
    write(*rule.held);
  }
  for (MergeRow& merge : merges_) {
    merge.start_s = workers_.since_origin(merge.start_s);
    merge.done_s = workers_.since_origin(merge.done_s);
    outputs_.add_schedule(merge);
  }
}

std::vector<std::string> Synchronizer::waiting() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < rules_.size(); ++i)
    for (std::size_t replica = 0; replica < rules_[i].contributors.size(); ++replica)
      if (const Contributor& contributor = rules_[i].contributors[replica];
          contributor.stage != Stage::kNone && contributor.awaited_s >= 0)
        lines.push_back(fmt::format("merge {} of {}: replica {} waits for what it posted after step {}",
                                    rules_[i].number, trace_.plan.rules[i].name, replica,
                                    contributor.post_step));
  return lines;
}

}  // namespace longhaul
