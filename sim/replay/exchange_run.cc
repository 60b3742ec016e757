#include "sim/replay/exchange_run.h"

#include <algorithm>
#include <utility>

#include "net/collectives/registry.h"
#include "sim/network/clock.h"

namespace longhaul {

ExchangeRun::ExchangeRun(const ExchangeRule& rule, int rule_index, int step, std::vector<int> group,
                         std::int64_t bytes, const std::vector<int>& site_of, Network& network,
                         MemberDone on_member_done, bool barrier, int bucket)
    : rule_(rule),
      rule_index_(rule_index),
      step_(step),
      bucket_(bucket),
      group_(std::move(group)),
      collective_(find_collective(rule.collective)),
      exchange_(group_exchange(group_, bytes, rule.tensors.size(), site_of)),
      rounds_(collective_.rounds(exchange_)),
      awaits_delivery_(collective_.awaits_delivery()),
      awaits_receiver_(collective_.awaits_receiver()),
      network_(network),
      on_member_done_(std::move(on_member_done)),
      members_(group_.size()),
      left_(group_.size()),
      barrier_(barrier) {}

// Groups are small, or everybody in order.
std::size_t ExchangeRun::member_of(int replica) const {
  const auto index = static_cast<std::size_t>(replica);
  if (index < group_.size() && group_[index] == replica) return index;
  return static_cast<std::size_t>(std::find(group_.begin(), group_.end(), replica) - group_.begin());
}

void ExchangeRun::post(int replica, const SyncParts& chain) {
  const std::size_t index = member_of(replica);
  members_[index].times.posted_s = now_s();
  const bool is_last = ++posted_ == members_.size();
  if (is_last && rule_.buckets == 1) count();
  if (!is_last && barrier_) return;
  if (!barrier_) return start(index, chain);
  for (std::size_t i = 0; i < members_.size(); ++i) start(i, chain);
}

void ExchangeRun::start(std::size_t index, const SyncParts& chain) {
  members_[index].times.parts = chain;
  enter_next_round(index);
  advance(index, chain);
}

bool ExchangeRun::is_round_over(const Member& member) const {
  return member.missing == 0 && (!awaits_delivery_ || member.undelivered == 0);
}

void ExchangeRun::enter_next_round(std::size_t index) {
  Member& member = members_[index];
  ++member.round;
  send_held(index);
  if (member.round == rounds_) return;
  const Round round = collective_.round(exchange_, static_cast<int>(index), member.round);
  for (const Message& message : round.receives)
    if (--member.surplus[message.peer] < 0) ++member.missing;
  for (const Message& message : round.sends) {
    const auto to = static_cast<std::size_t>(message.peer);
    member.times.bytes_sent += message.bytes;
    ++member.undelivered;
    const int number = member.sent++;
    const int may_travel = awaits_receiver_ ? member.round : 0;
    if (members_[to].round < may_travel)
      members_[to].held.push_back({index, number, message.bytes, may_travel});
    else
      send(index, to, number, message.bytes, member.times.parts);
  }
}

void ExchangeRun::send_held(std::size_t index) {
  Member& member = members_[index];
  if (member.held.empty()) return;
  std::vector<Held> later;
  for (const Held& held : std::exchange(member.held, {}))
    if (held.round <= member.round)
      send(held.from, index, held.number, held.bytes, member.times.parts);
    else
      later.push_back(held);
  member.held = std::move(later);
}

// `chain` leads to whichever end was ready last.
void ExchangeRun::send(std::size_t from, std::size_t to, int number, std::int64_t bytes,
                       const SyncParts& chain) {
  ++transfers_;
  const MessageKey key{step_, rule_index_, group_[from], number, bucket_};
  UnderWay* message = new_message();
  *message = {chain, static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), is_counting_};
  // Two words: what std::function holds without an allocation.
  network_.send_message(
      key, group_[from], group_[to], bytes, [this, message] { arrive(message); }, &message->chain);
}

ExchangeRun::UnderWay* ExchangeRun::new_message() {
  if (free_.empty()) return &messages_.emplace_back();
  UnderWay* message = free_.back();
  free_.pop_back();
  return message;
}

void ExchangeRun::advance(std::size_t index, const SyncParts& chain) {
  Member& member = members_[index];
  while (member.round < rounds_ && is_round_over(member)) {
    member.times.parts = chain;
    enter_next_round(index);
  }
  if (member.round < rounds_ || member.times.done_s >= 0) return;
  member.times.done_s = now_s();
  --left_;
  on_member_done_(group_[index]);
}

// Of a message that began before chains counted.
void ExchangeRun::cut_chain(SyncParts& chain) const {
  chain = is_counting_ ? last_seconds(chain, now_s() - start_s_) : SyncParts();
}

void ExchangeRun::arrive(UnderWay* message) {
  const std::size_t from = message->from, to = message->to;
  if (!message->is_counted) cut_chain(message->chain);
  // The last member to be done may be the end of this run: nothing of it is touched after that.
  const SyncParts chain = message->chain;
  free_.push_back(message);
  if (members_[to].surplus[static_cast<int>(from)]++ < 0) --members_[to].missing;
  --members_[from].undelivered;
  if (awaits_delivery_) advance(from, chain);
  if (members_[to].round >= 0) advance(to, chain);
}

double ExchangeRun::start_s() const {
  double last = 0;
  for (const Member& member : members_) last = std::max(last, member.times.posted_s);
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
    Member member = members_[i];
    if (member.times.done_s >= 0) continue;
    std::string line = "exchange " + rule_.name + " of step " + std::to_string(step_) + ": replica " +
                       std::to_string(group_[i]);
    if (member.round < 0) {
      lines.push_back(line +
                      (member.times.posted_s < 0 ? " has not posted it" : " waits for all to be ready"));
      continue;
    }
    line += " in round " + std::to_string(member.round + 1) + " waits for";
    const Round round = collective_.round(exchange_, static_cast<int>(i), member.round);
    for (const Message& message : round.receives)
      if (member.surplus[message.peer] < 0)
        line += " replica " + std::to_string(group_[static_cast<std::size_t>(message.peer)]);
    lines.push_back(line);
  }
  return lines;
}

}  // namespace longhaul
