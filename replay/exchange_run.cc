#include "replay/exchange_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/index.h"
#include "net/collectives/collective.h"
#include "net/collectives/slices.h"

namespace longhaul {

ExchangeRun::ExchangeRun(const ExchangeContext& context, const OperationRule& rule, int rule_index, int step,
                         std::vector<int> group, std::int64_t bytes, MemberDone on_member_done, int bucket,
                         const std::vector<std::vector<int>>& targets, const std::vector<std::int64_t>& parts)
    : context_(context),
      rule_(rule),
      rule_index_(rule_index),
      step_(step),
      bucket_(bucket),
      group_(std::move(group)),
      collective_(find_collective(rule.collective)),
      exchange_(group_exchange(group_, bytes, rule.payload.size(), context.site_of, targets, parts)),
      rounds_(collective_.rounds(exchange_)),
      slices_(slice_count(context.sending.slice, collective_, exchange_)),
      awaits_delivery_(collective_.awaits_delivery() && slices_ == 1),
      awaits_receiver_(collective_.awaits_receiver()),
      is_in_turn_(slices_ > 1 || (context.sending.eager_bytes > 0 && !awaits_receiver_)),
      on_member_done_(std::move(on_member_done)),
      members_(group_.size()),
      walks_(group_.size() * as_index(slices_)),
      left_(group_.size()) {
  for (Member& member : members_) member.walks_left = slices_;
  if (slices_ == 1 && !context.on_round && EqualRounds::are_in(collective_, exchange_))
    equal_.emplace(members_.size());
}

// Groups are small, or everybody in order.
std::size_t ExchangeRun::member_of(int replica) const {
  const auto index = as_index(replica);
  if (index < group_.size() && group_[index] == replica) return index;
  return as_index(std::find(group_.begin(), group_.end(), replica) - group_.begin());
}

void ExchangeRun::post(int replica, const SyncParts& chain) {
  const std::size_t index = member_of(replica);
  members_[index].times.ready_s = now_s();
  const bool is_last = ++posted_ == members_.size();
  if (is_last && rule_.buckets == 1) count();
  if (!is_last && context_.sending.barrier) return;
  if (!context_.sending.barrier) return start(index, chain);
  for (std::size_t i = 0; i < members_.size(); ++i) start(i, chain);
}

Round ExchangeRun::round_of(std::size_t walk, int index) const {
  const Round whole = collective_.round(exchange_, static_cast<int>(owner_of(walk)), index);
  return slices_ == 1 ? whole : slice_of(whole, static_cast<int>(walk / members_.size()), slices_);
}

// All slices of the first round are handed over before any of a later one.
void ExchangeRun::start(std::size_t index, const SyncParts& chain) {
  for (std::size_t walk = index; walk < walks_.size(); walk += members_.size()) {
    walks_[walk].chain = chain;
    enter_next_round(walk);
  }
  const std::size_t step = members_.size(), end = walks_.size();  // the last one may be the end of this run
  for (std::size_t walk = index; walk < end; walk += step) advance(walk, chain);
}

void ExchangeRun::enter_next_round(std::size_t index) {
  Walk& walk = walks_[index];
  ++walk.round;
  const Round round = walk.round == rounds_ ? Round() : round_of(index, walk.round);
  if (context_.on_round) context_.on_round(static_cast<int>(index), round);
  if (index < members_.size()) send_held(index);
  for (const Message& message : round.receives)
    if (--walk.surplus[message.peer] < 0) ++walk.missing;
  for (const Message& message : round.sends) hand_over(index, message);
  if (equal_ && equal_->enter(walk.round, context_.clock.now_ns())) note_equal_round(walk.round);
}

// Chains count since an earlier instant, so that they do for all messages of the round.
void ExchangeRun::note_equal_round(int round) {
  const int left = rounds_ - 1 - round;
  if (round < 1 || left < 0 || !is_counting_ || start_s_ == now_s()) return;
  if (context_.network.note_equal_round(
          {members_.size(), left, equal_->is_next(round), [this](int rounds) { skip(rounds); }}))
    equal_->take_apart(round);
}

void ExchangeRun::skip(int rounds) {
  equal_->skip(rounds);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    walks_[i].round += rounds;
    walks_[i].chain = equal_->led_to(i);
    members_[i].sent += rounds;
    members_[i].times.bytes_sent += rounds * collective_.unit_bytes(exchange_);
  }
  transfers_ += rounds * static_cast<std::int64_t>(members_.size());
}

// What has to wait for its receiver waits at the receiver's first walk, in the order of sending.
void ExchangeRun::hand_over(std::size_t from, const Message& message) {
  Walk& walk = walks_[from];
  Member& sender = members_[owner_of(from)];
  const auto peer = as_index(message.peer), to = from - owner_of(from) + peer;
  sender.times.bytes_sent += message.bytes;
  ++walk.undelivered;
  const int number = sender.sent++;
  const int may_travel = awaits_receiver_ ? walk.round : 0;
  if (walks_[peer].round >= may_travel) return send(from, to, number, message.bytes, walk.chain);
  const std::int64_t left = message.bytes - push(from, to, number, message.bytes);
  if (left > 0) members_[peer].held.push_back({from, to, number, left, may_travel});
}

// Sends of the message what an eager sender may, and returns how much that is.
std::int64_t ExchangeRun::push(std::size_t from, std::size_t to, int number, std::int64_t bytes) {
  if (context_.sending.eager_bytes == 0 || awaits_receiver_) return 0;
  double& pushed = pushed_[{owner_of(from), owner_of(to)}];
  const double room = std::floor(std::max(0., context_.sending.eager_bytes - pushed));
  const auto part = room < static_cast<double>(bytes) ? static_cast<std::int64_t>(room) : bytes;
  pushed += static_cast<double>(part);
  if (part == bytes) {
    send(from, to, number, bytes, walks_[from].chain);
  } else if (part > 0) {
    ++transfers_;
    context_.network.send(transfer(from, to, number, part), [] {});
  }
  return part;
}

void ExchangeRun::send_held(std::size_t index) {
  Member& member = members_[index];
  if (member.held.empty()) return;
  std::vector<Held> later;
  for (const Held& held : std::exchange(member.held, {}))
    if (held.round <= walks_[index].round)
      send(held.from, held.to, held.number, held.bytes, walks_[index].chain);
    else
      later.push_back(held);
  member.held = std::move(later);
}

// `chain` leads to whichever end was ready last.
void ExchangeRun::send(std::size_t from, std::size_t to, int number, std::int64_t bytes,
                       const SyncParts& chain) {
  ++transfers_;
  UnderWay* message = new_message();
  *message = {chain, static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), is_counting_};
  if (equal_) equal_->send(from, &message->chain);
  // Two words: what std::function holds without an allocation.
  context_.network.send(
      transfer(from, to, number, bytes), [this, message] { arrive(message); }, &message->chain);
}

Transmission ExchangeRun::transfer(std::size_t from, std::size_t to, int number, std::int64_t bytes) const {
  const int source = group_[owner_of(from)], target = group_[owner_of(to)];
  return {source, target, bytes, {step_, rule_index_, source, number, bucket_}, is_in_turn_};
}

ExchangeRun::UnderWay* ExchangeRun::new_message() {
  if (free_.empty()) return &messages_.emplace_back();
  UnderWay* message = free_.back();
  free_.pop_back();
  return message;
}

void ExchangeRun::advance(std::size_t index, const SyncParts& chain) {
  Walk& walk = walks_[index];
  while (walk.round < rounds_ && walk.missing == 0 && (!awaits_delivery_ || walk.undelivered == 0)) {
    walk.chain = chain;
    enter_next_round(index);
  }
  if (walk.round < rounds_ || walk.is_over) return;
  walk.is_over = true;
  const std::size_t owner = owner_of(index);
  Member& member = members_[owner];
  if (--member.walks_left > 0) return;
  member.times.parts = walk.chain;
  member.times.done_s = now_s();
  --left_;
  on_member_done_(group_[owner]);
}

void ExchangeRun::arrive(UnderWay* message) {
  if (is_given_up_) return;
  const std::size_t from = message->from, to = message->to;
  if (equal_) equal_->arrive(from, message->chain);
  if (!message->is_counted)  // it began before chains counted
    message->chain = is_counting_ ? last_seconds(message->chain, now_s() - start_s_) : SyncParts();
  // The last member to be done may be the end of this run: nothing of it is touched after that.
  const SyncParts chain = message->chain;
  free_.push_back(message);
  if (walks_[to].surplus[static_cast<int>(owner_of(from))]++ < 0) --walks_[to].missing;
  --walks_[from].undelivered;
  if (awaits_delivery_) advance(from, chain);
  if (walks_[to].round >= 0) advance(to, chain);
}

double ExchangeRun::start_s() const {
  double last = 0;
  for (const Member& member : members_) last = std::max(last, member.times.ready_s);
  return last;
}

double ExchangeRun::done_s() const {
  double last = 0;
  for (const Member& member : members_) last = std::max(last, member.times.done_s);
  return last;
}

std::vector<std::string> ExchangeRun::waiting() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[i];
    if (member.times.done_s >= 0) continue;
    std::size_t index = i;
    while (walks_[index].is_over) index += members_.size();
    Walk walk = walks_[index];
    std::string line = fmt::format("exchange {} of step {}: replica {}", rule_.name, step_, group_[i]);
    if (walk.round < 0) {
      line += member.times.ready_s < 0 ? " has not posted it" : " waits for all to be ready";
    } else {
      line += fmt::format(" in round {} waits for", walk.round + 1);
      for (const Message& message : round_of(index, walk.round).receives)
        if (walk.surplus[message.peer] < 0)
          line += fmt::format(" replica {}", group_[as_index(message.peer)]);
    }
    lines.push_back(line);
  }
  return lines;
}

BucketedExchange::BucketedExchange(const ExchangeContext& context, const Operation& exchange, int rule_index,
                                   std::vector<int> group, MemberDone on_member_done)
    : GroupOperation(exchange, rule_index, std::move(group)),
      clock_(context.clock),
      members_(this->group().size()),
      on_member_done_(std::move(on_member_done)) {
  const int buckets = exchange.rule->buckets;
  for (int bucket = 0; bucket < buckets; ++bucket)
    runs_.push_back(std::make_unique<ExchangeRun>(
        context, *exchange.rule, rule_index, exchange.post_step, this->group(),
        bucket_bytes(exchange, bucket),
        [this, bucket](int replica) { end_bucket(as_index(bucket), replica); }, bucket, exchange.targets,
        exchange.parts));
}

void BucketedExchange::release(int replica) {
  Member& member = members_[runs_.front()->member_of(replica)];
  if (++member.released == runs_.size()) {
    member.ready_s = clock_.now_s();
    if (++ready_ == members_.size())
      for (const auto& run : runs_) run->count();
  }
  post_next(replica, {});
}

// `chain` leads to the end of the bucket before; a release is never later than the start of all chains.
void BucketedExchange::post_next(int replica, const SyncParts& chain) {
  Member& member = members_[runs_.front()->member_of(replica)];
  if (member.posted == member.released) return;
  if (member.posted > 0 && !runs_[member.posted - 1]->is_done(replica)) return;
  runs_[member.posted++]->post(replica, chain);
}

void BucketedExchange::end_bucket(std::size_t bucket, int replica) {
  if (bucket + 1 < runs_.size()) return post_next(replica, runs_[bucket]->times(replica).parts);
  on_member_done_(replica);
}

MemberTimes BucketedExchange::times(int replica) const {
  const MemberTimes& last = runs_.back()->times(replica);
  MemberTimes times{members_[runs_.front()->member_of(replica)].ready_s, last.done_s, 0, last.parts};
  for (const auto& run : runs_) times.bytes_sent += run->times(replica).bytes_sent;
  return times;
}

double BucketedExchange::start_s() const {
  double last = 0;
  for (const Member& member : members_) last = std::max(last, member.ready_s);
  return last;
}

std::int64_t BucketedExchange::transfers() const {
  std::int64_t transfers = 0;
  for (const auto& run : runs_) transfers += run->transfers();
  return transfers;
}

std::vector<std::string> BucketedExchange::waiting() const {
  for (const auto& run : runs_)
    if (!run->is_finished()) return run->waiting();
  return {};
}

}  // namespace longhaul
