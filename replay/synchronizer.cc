#include "replay/synchronizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/index.h"

namespace longhaul {
namespace {

bool contains(const std::vector<int>& replicas, int replica) {
  return std::find(replicas.begin(), replicas.end(), replica) != replicas.end();
}

}  // namespace

Synchronizer::Synchronizer(const ExchangeContext& context, const Trace& trace, AddRow add_row,
                           Answered on_answered)
    : context_(context),
      trace_(trace),
      add_row_(std::move(add_row)),
      on_answered_(std::move(on_answered)),
      rules_(trace.plan.rules.size()) {
  const PlanContext& of = trace.context;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const OperationRule& plan = trace.plan.rules[i];
    Rule& rule = rules_[i];
    for (const PayloadPart& part : plan.payload)
      rule.bytes += encoded_bytes(part.codec, contributed_columns(plan, part, of.parameters, of.replicas));
    rule.answer_bytes = answer_bytes(plan, of.parameters);
    rule.last_post_step = last_post_step(plan, of.steps);
    rule.of.resize(as_index(of.replicas));
  }
}

bool Synchronizer::may_come(const Contributor& one) {
  return one.may_post || (one.is_under_way && !one.has_arrived);
}

void Synchronizer::post(int replica, int rule, int step) {
  Contributor& one = at(rule, replica);
  one.may_post = step < rules_[as_index(rule)].last_post_step;
  if (one.is_under_way) {
    add(step, rule, {replica, now_s(), now_s(), now_s(), 0, {}, now_s()});
    return look(rule);
  }
  one.is_under_way = true;
  one.has_arrived = false;
  one.post_step = step;
  one.posted_s = now_s();
  one.answered_s = one.awaited_s = -1;
  one.chain = {};
  if (replica == kPlace) return arrive(replica, rule);
  ++transfers_;
  context_.network.send(
      {replica, kPlace, rules_[as_index(rule)].bytes, {step, rule, replica, 0, 0}, false},
      [this, replica, rule] { arrive(replica, rule); }, &one.chain);
}

void Synchronizer::arrive(int replica, int rule) {
  Contributor& one = at(rule, replica);
  one.has_arrived = true;
  one.arrived_s = now_s();
  if (one.missed >= 0) history(rule).add_late(std::exchange(one.missed, -1), now_s() - one.missed_quorum_s);
  rules_[as_index(rule)].arrived.push_back(replica);
  look(rule);
}

void Synchronizer::look(int rule) {
  Rule& of = rules_[as_index(rule)];
  if (of.arrived.empty()) return;
  bool have_all_come = true;
  for (std::size_t replica = 0; replica < of.of.size(); ++replica)
    have_all_come &= !may_come(of.of[replica]) || contains(of.arrived, static_cast<int>(replica));
  if (have_all_come) return make(rule);
  const Completion& completion = plan_of(rule).completion;
  if (completion.is_all() || of.quorum_s >= 0 || static_cast<int>(of.arrived.size()) < completion.quorum)
    return;
  of.quorum_s = now_s();
  const double grace = grace_s(rule);
  if (std::isinf(grace)) return;
  context_.clock.after(grace, [this, rule, number = of.number] {
    if (rules_[as_index(rule)].number == number) make(rule);
  });
}

double Synchronizer::grace_s(int rule) {
  const Completion& completion = plan_of(rule).completion;
  return completion.adaptive ? history(rule).grace_s(*completion.adaptive) : completion.grace_s;
}

LagHistory& Synchronizer::history(int rule) {
  return context_.lags->try_emplace(rule, plan_of(rule).completion.adaptive->window).first->second;
}

void Synchronizer::make(int rule) {
  Rule& of = rules_[as_index(rule)];
  std::vector<int> members = std::exchange(of.arrived, {});
  const double quorum_s = std::exchange(of.quorum_s, -1);
  const Contributor& last = of.of[as_index(members.back())];
  MergeRow row{{rule, of.number++, {}}, 0, now_s()};
  for (const int replica : members) row.start_s = std::max(row.start_s, of.of[as_index(replica)].posted_s);
  SyncParts chain = last_seconds(last.chain, last.arrived_s - row.start_s);
  chain.waiting_s += now_s() - last.arrived_s;

  if (plan_of(rule).completion.adaptive && quorum_s >= 0) {
    std::vector<double> lags;
    for (const int replica : members)
      if (const double lag = of.of[as_index(replica)].arrived_s - quorum_s; lag > 0) lags.push_back(lag);
    std::sort(lags.begin(), lags.end());
    const std::int64_t number = history(rule).add(lags);
    for (std::size_t replica = 0; replica < of.of.size(); ++replica) {
      Contributor& one = of.of[replica];
      if (!may_come(one) || contains(members, static_cast<int>(replica))) continue;
      one.missed = number;
      one.missed_quorum_s = quorum_s;
    }
  }
  std::sort(members.begin(), members.end());
  for (const int replica : members) row.merge.contributions.push_back({replica, at(rule, replica).post_step});
  merges_.push_back(std::move(row));
  const std::size_t merge = merges_.size() - 1;
  for (const int replica : members) {
    Contributor& one = at(rule, replica);
    one.merge = merge;
    one.start_s = merges_[merge].start_s;
    one.chain = chain;
  }
  for (const int replica : members) answer(replica, rule);
}

void Synchronizer::answer(int replica, int rule) {
  Contributor& one = at(rule, replica);
  const auto answered = [this, replica, rule] {
    at(rule, replica).answered_s = now_s();
    on_answered_(replica);
  };
  if (replica == kPlace) return answered();
  ++transfers_;
  const std::int64_t bytes = rules_[as_index(rule)].answer_bytes;
  answered_bytes_ += bytes;
  context_.network.send({kPlace, replica, bytes, {one.post_step, rule, kPlace, replica, 0}, false}, answered,
                        &one.chain);
}

bool Synchronizer::take_up(int replica, int rule, int step) {
  Contributor& one = at(rule, replica);
  if (!one.is_under_way) return true;
  const OperationRule& plan = plan_of(rule);
  const int due = one.post_step + plan.overlap_steps;
  if (step < due) return true;
  if (one.answered_s < 0) {
    if (plan.slack_steps < 0 || step < due + plan.slack_steps) return true;
    if (one.awaited_s < 0) one.awaited_s = now_s();
    return false;
  }
  for (Merge::Contribution& made : merges_[one.merge].merge.contributions)
    if (made.replica == replica) made.taken_step = step;
  one.is_under_way = false;
  add(one.post_step, rule,
      {replica, one.posted_s, one.start_s, one.answered_s,
       replica == kPlace ? 0 : rules_[as_index(rule)].bytes, one.chain,
       one.awaited_s < 0 ? now_s() : one.awaited_s});
  return true;
}

void Synchronizer::end(int replica) {
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const Contributor& one = rules_[i].of[as_index(replica)];
    if (one.is_under_way)
      add(one.post_step, static_cast<int>(i),
          {replica,
           one.posted_s,
           one.posted_s,
           one.posted_s,
           replica == kPlace ? 0 : rules_[i].bytes,
           {},
           one.posted_s});
  }
}

void Synchronizer::add(int step, int rule, ExchangeRow row) {
  if (row.replica != kPlace) return add_row_(step, rule, row);
  if (held_) add_row_(held_->step, held_->rule, held_->row);
  row.bytes += std::exchange(answered_bytes_, 0);
  held_ = {step, rule, row};
}

std::vector<MergeRow> Synchronizer::finish() {
  if (held_) {
    held_->row.bytes += std::exchange(answered_bytes_, 0);
    add_row_(held_->step, held_->rule, held_->row);
    held_.reset();
  }
  return std::move(merges_);
}

std::vector<std::string> Synchronizer::waiting() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < rules_.size(); ++i)
    for (std::size_t replica = 0; replica < rules_[i].of.size(); ++replica)
      if (const Contributor& one = rules_[i].of[replica]; one.is_under_way && one.awaited_s >= 0)
        lines.push_back(fmt::format("merge {} of {}: replica {} waits for what it posted after step {}",
                                    rules_[i].number, trace_.plan.rules[i].name, replica, one.post_step));
  return lines;
}

}  // namespace longhaul
