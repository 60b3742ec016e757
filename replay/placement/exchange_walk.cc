#include "replay/placement/exchange_walk.h"

#include <algorithm>
#include <stdexcept>

#include "core/base/index.h"

namespace longhaul {

ExchangeWalk::ExchangeWalk(const Collective& collective, const GroupExchange& exchange)
    : rounds_(collective.rounds(exchange)), members_(as_index(exchange.members)), held_(members_.size()) {
  for (Member& member : members_) {
    member.from.resize(members_.size());
    member.taken.resize(members_.size());
  }
  for (int i = 0; i < exchange.members; ++i) enter(collective, exchange, i, {});
  for (bool has_advanced = true; has_advanced;) {
    has_advanced = false;
    for (int i = 0; i < exchange.members; ++i)
      while (advance(collective, exchange, i)) has_advanced = true;
  }
  for (const Member& member : members_) {
    if (member.round < rounds_) throw std::logic_error(collective.name() + ": its rounds wait in a circle");
    done_.push_back(member.entries.back());
  }
  time_.resize(as_index(slots_));
  members_ = {};
  held_ = {};
}

bool ExchangeWalk::take(const Round& round, Member& member, std::vector<int>& awaited) const {
  for (std::size_t i = 0; i < round.receives.size(); ++i) {
    const auto peer = as_index(round.receives[i].peer);
    if (member.taken[peer] == member.from[peer].size()) {
      while (i-- > 0) --member.taken[as_index(round.receives[i].peer)];
      return false;
    }
    awaited.push_back(member.from[peer][member.taken[peer]++]);
  }
  return true;
}

// Into the next round, if all that it waits for has a slot.
bool ExchangeWalk::advance(const Collective& collective, const GroupExchange& exchange, int index) {
  Member& member = members_[as_index(index)];
  if (member.round == rounds_) return false;
  const Round round = collective.round(exchange, index, member.round);
  if (collective.awaits_delivery() && member.sent.size() < round.sends.size()) return false;  // one is held
  std::vector<int> awaited = {member.entries.back()};
  if (!take(round, member, awaited)) return false;
  if (collective.awaits_delivery()) awaited.insert(awaited.end(), member.sent.begin(), member.sent.end());
  enter(collective, exchange, index, awaited);
  return true;
}

void ExchangeWalk::enter(const Collective& collective, const GroupExchange& exchange, int index,
                         const std::vector<int>& awaited) {
  Member& member = members_[as_index(index)];
  ++member.round;
  const int entry = slots_++;
  member.entries.push_back(entry);
  member.sent.clear();
  steps_.push_back({false, static_cast<int>(entries_.size())});
  entries_.push_back({entry, awaited_.size(), awaited_.size() + awaited.size()});
  awaited_.insert(awaited_.end(), awaited.begin(), awaited.end());
  std::vector<Held> later;
  for (const Held& held : held_[as_index(index)])
    if (held.round <= member.round)
      send(held, entry);
    else
      later.push_back(held);
  held_[as_index(index)] = std::move(later);
  if (member.round == rounds_) return;
  for (const Message& message : collective.round(exchange, index, member.round).sends) {
    const Held held{index, message.peer, static_cast<double>(message.bytes), entry, member.round};
    const Member& receiver = members_[as_index(message.peer)];
    if (!collective.awaits_receiver())
      send(held, -1);
    else if (receiver.round >= member.round)
      send(held, receiver.entries[as_index(member.round)]);
    else
      held_[as_index(message.peer)].push_back(held);
  }
}

void ExchangeWalk::send(const Held& message, int receiver_slot) {
  Member &sender = members_[as_index(message.from)], &receiver = members_[as_index(message.to)];
  std::vector<int>& arrivals = receiver.from[as_index(message.from)];
  steps_.push_back({true, static_cast<int>(messages_.size())});
  messages_.push_back({message.from, message.to, message.bytes, message.sender, receiver_slot,
                       arrivals.empty() ? -1 : arrivals.back(), slots_});
  arrivals.push_back(slots_);
  sender.sent.push_back(slots_++);
}

template <typename PathOf>
ExchangeWalk::Times ExchangeWalk::walk(const PathOf& path_of) {
  for (const Step& step : steps_) {
    if (!step.is_message) {
      const Entry& entry = entries_[as_index(step.number)];
      double latest_s = 0;
      for (std::size_t i = entry.first; i < entry.end; ++i)
        latest_s = std::max(latest_s, time_[as_index(awaited_[i])]);
      time_[as_index(entry.slot)] = latest_s;
      continue;
    }
    const TimedMessage& message = messages_[as_index(step.number)];
    double begin_s = time_[as_index(message.sender)];
    if (message.receiver >= 0) begin_s = std::max(begin_s, time_[as_index(message.receiver)]);
    const SitePath& path = path_of(message.from, message.to);
    double arrival_s = begin_s + path.latency_s + message.bytes * path.s_per_byte;
    if (message.before >= 0) arrival_s = std::max(arrival_s, time_[as_index(message.before)]);
    time_[as_index(message.arrival)] = arrival_s;
  }
  Times times;
  for (const int slot : done_) {
    const double done_s = time_[as_index(slot)];
    times.last_s = std::max(times.last_s, done_s);
    times.mean_s += done_s / static_cast<double>(done_.size());
  }
  return times;
}

ExchangeWalk::Times ExchangeWalk::times(const std::vector<int>& site_of, const SitePaths& paths) {
  return walk([&](int from, int to) -> const SitePath& {
    return paths.between(site_of[as_index(from)], site_of[as_index(to)]);
  });
}

ExchangeWalk::Times ExchangeWalk::times(const SitePath& path) {
  return walk([&](int, int) -> const SitePath& { return path; });
}

}  // namespace longhaul
