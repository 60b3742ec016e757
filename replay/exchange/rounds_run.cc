#include "replay/exchange/rounds_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/index.h"
#include "net/collectives/collective.h"
#include "net/collectives/slices.h"

namespace longhaul {

RoundsRun::RoundsRun(const ExchangeContext& context, ExchangeOrder order, MemberDone on_member_done)
    : ExchangeRun(context, std::move(order), std::move(on_member_done)),
      collective_(collective_of(context.spec, order_.rule, exchange_)),
      rounds_(collective_.rounds(exchange_)),
      slices_(slice_count(context.spec.slice, collective_, exchange_)),
      awaits_delivery_(collective_.awaits_delivery() && slices_ == 1),
      awaits_receiver_(collective_.awaits_receiver()),
      is_in_turn_(slices_ > 1 || (context.spec.eager > 0 && !awaits_receiver_) ||
                  (collective_.pieces(exchange_) > 1 && !context.spec.message_time)),
      members_(members()),
      walks_(members() * as_index(slices_)),
      unstarted_(walks_.size()) {
  for (Member& member : members_) member.walks_left = slices_;
  if (rounds_ > 1 && slices_ == 1 && !awaits_delivery_ && !awaits_receiver_ && !context.on_round)
    find_last_peers();
  if (slices_ == 1 && !context.on_round && EqualRounds::are_in(collective_, exchange_))
    equal_.emplace(members_.size());
}

Round RoundsRun::round_of(std::size_t walk, int index) const {
  const Round whole = collective_.round(exchange_, static_cast<int>(owner_of(walk)), index);
  if (collective_.joins_parts()) return joined(whole);
  return slices_ == 1 ? whole : slice_of(whole, static_cast<int>(walk / members_.size()), slices_);
}

// What a member awaits in its last round its peer may have sent in an earlier one of its own: then there is
// none.
void RoundsRun::find_last_peers() {
  last_peers_.resize(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    last_peers_[i] = i;
    const Round last = collective_.round(exchange_, static_cast<int>(i), rounds_ - 1);
    if (last.receives.empty()) continue;
    const int peer = last.receives.front().peer;
    for (const Message& message : collective_.round(exchange_, peer, rounds_ - 1).sends)
      if (as_index(message.peer) == i) last_peers_[i] = as_index(peer);
  }
}

// All slices of the first round are handed over before any of a later one.
void RoundsRun::start(std::size_t index, const SyncParts& chain) {
  for (std::size_t walk = index; walk < walks_.size(); walk += members_.size()) {
    walks_[walk].chain = chain;
    enter_next_round(walk);
  }
  const std::size_t step = members_.size(), end = walks_.size();  // the last one may be the end of this run
  for (std::size_t walk = index; walk < end; walk += step) advance(walk, chain);
}

void RoundsRun::enter_next_round(std::size_t index) {
  Walk& walk = walks_[index];
  if (++walk.round == 0) --unstarted_;
  const Round round = walk.round == rounds_ ? Round() : round_of(index, walk.round);
  if (context_.on_round) context_.on_round(static_cast<int>(index), round);
  if (index < members_.size()) send_held(index);
  for (const Message& message : round.receives)
    if (--walk.surplus[message.peer] < 0) ++walk.missing;
  for (const Message& message : round.sends) hand_over(index, message);
  if (equal_ && equal_->enter(walk.round, context_.clock.now_ns())) note_equal_round(walk.round);
}

// Chains count since an earlier instant, so that they do for all messages of the round.
void RoundsRun::note_equal_round(int round) {
  const int left = rounds_ - 1 - round;
  if (round < 1 || left < 0 || !is_counting_ || start_s_ == now_s()) return;
  if (context_.network.note_equal_round(
          {members_.size(), left, equal_->is_next(round), [this](int rounds) { skip(rounds); }}))
    equal_->take_apart(round);
}

void RoundsRun::skip(int rounds) {
  equal_->skip(rounds);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    walks_[i].round += rounds;
    walks_[i].chain = equal_->led_to(i);
    members_[i].sent += rounds;
    times_[i].bytes_sent += rounds * collective_.unit_bytes(exchange_);
  }
  transfers_ += rounds * static_cast<std::int64_t>(members_.size());
}

// What has to wait for its receiver waits at the receiver's first walk, in the order of sending.
void RoundsRun::hand_over(std::size_t from, const Message& message) {
  Walk& walk = walks_[from];
  Member& sender = members_[owner_of(from)];
  const auto peer = as_index(message.peer), to = from - owner_of(from) + peer;
  times_[owner_of(from)].bytes_sent += message.bytes;
  ++walk.undelivered;
  const int number = sender.sent++;
  const int may_travel = awaits_receiver_ ? walk.round : 0;
  if (walks_[peer].round >= may_travel) return send(from, to, number, message.bytes, walk.chain);
  const std::int64_t left = message.bytes - push(from, to, number, message.bytes);
  if (left > 0) members_[peer].held.push_back({from, to, number, left, may_travel});
}

// Sends of the message what an eager sender may, and returns how much that is.
std::int64_t RoundsRun::push(std::size_t from, std::size_t to, int number, std::int64_t bytes) {
  if (context_.spec.eager == 0 || awaits_receiver_) return 0;
  double& pushed = pushed_[{owner_of(from), owner_of(to)}];
  const double room = std::floor(std::max(0., context_.spec.eager - pushed));
  const auto part = room < static_cast<double>(bytes) ? static_cast<std::int64_t>(room) : bytes;
  pushed += static_cast<double>(part);
  if (part == bytes) {
    send(from, to, number, bytes, walks_[from].chain);
  } else if (part > 0) {
    ++transfers_;
    context_.network.send(transmission(owner_of(from), owner_of(to), number, part, is_in_turn_), [] {});
  }
  return part;
}

void RoundsRun::send_held(std::size_t index) {
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
void RoundsRun::send(std::size_t from, std::size_t to, int number, std::int64_t bytes,
                     const SyncParts& chain) {
  ++transfers_;
  UnderWay* message = new_message();
  *message = {chain, static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), is_counting_};
  if (equal_) equal_->send(from, &message->chain);
  Transmission transfer = transmission(owner_of(from), owner_of(to), number, bytes, is_in_turn_);
  transfer.is_answered_by_target = is_answered_by_target(from, to);
  // Two words: what std::function holds without an allocation.
  context_.network.send(
      transfer, [this, message] { arrive(message); }, &message->chain);
}

// All have begun, so that nothing is held for the target, nobody waits for a delivery, and the target is not
// done when it arrives: what ends the target's last round the same member sends in its own last one.
bool RoundsRun::is_answered_by_target(std::size_t from, std::size_t to) const {
  return !last_peers_.empty() && unstarted_ == 0 && last_peers_[to] == from &&
         walks_[from].round < rounds_ - 1;
}

RoundsRun::UnderWay* RoundsRun::new_message() {
  if (free_.empty()) return &messages_.emplace_back();
  UnderWay* message = free_.back();
  free_.pop_back();
  return message;
}

void RoundsRun::advance(std::size_t index, const SyncParts& chain) {
  Walk& walk = walks_[index];
  while (walk.round < rounds_ && walk.missing == 0 && (!awaits_delivery_ || walk.undelivered == 0)) {
    walk.chain = chain;
    enter_next_round(index);
  }
  if (walk.round < rounds_ || walk.is_over) return;
  walk.is_over = true;
  const std::size_t owner = owner_of(index);
  if (--members_[owner].walks_left == 0) finish(owner, walk.chain);
}

void RoundsRun::arrive(UnderWay* message) {
  if (is_given_up_) return;
  const std::size_t from = message->from, to = message->to;
  if (equal_) equal_->arrive(from, message->chain);
  // The last member to be done may be the end of this run: nothing of it is touched after that.
  const SyncParts chain = counted(message->chain, message->is_counted);
  free_.push_back(message);
  if (walks_[to].surplus[static_cast<int>(owner_of(from))]++ < 0) --walks_[to].missing;
  --walks_[from].undelivered;
  if (awaits_delivery_) advance(from, chain);
  if (walks_[to].round >= 0) advance(to, chain);
}

void RoundsRun::take_back_unsent() {
  for (Member& member : members_)
    for (const Held& held : std::exchange(member.held, {}))
      times_[owner_of(held.from)].bytes_sent -= held.bytes;
}

ExchangeRun::Waiting RoundsRun::waiting(std::size_t member) const {
  std::size_t index = member;
  while (walks_[index].is_over) index += members_.size();
  Walk walk = walks_[index];
  Waiting waits{walk.round};
  if (walk.round >= 0)
    for (const Message& message : round_of(index, walk.round).receives)
      if (walk.surplus[message.peer] < 0) waits.peers.push_back(message.peer);
  return waits;
}

}  // namespace longhaul
