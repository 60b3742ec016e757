#include "net/analytic/group_walk.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace longhaul {
namespace {

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

// Of two at the same time the second.
const GroupWalk::Moment& later(const GroupWalk::Moment& first, const GroupWalk::Moment& second) {
  return second.time_ns >= first.time_ns ? second : first;
}

}  // namespace

GroupWalk::GroupWalk(const Collective& collective, const GroupExchange& exchange,
                     const std::vector<int>& group, Name name, MessageCosts& costs, BusyTimes& busy)
    : collective_(collective),
      exchange_(exchange),
      group_(group),
      name_(name),
      costs_(costs),
      busy_(busy),
      rounds_(collective.rounds(exchange)),
      awaits_receiver_(collective.awaits_receiver()),
      members_(group.size()),
      times_(group.size()) {}

std::vector<GroupWalk::Times> GroupWalk::walk(const std::vector<Moment>& posted, std::int64_t start_ns) {
  posted_ = posted;
  start_ns_ = start_ns;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    members_[i].now = posted[i];
    times_[i].posted_ns = posted[i].time_ns;
    to_walk_.push_back(static_cast<int>(i));
  }
  while (!to_walk_.empty()) {
    const int index = to_walk_.back();
    to_walk_.pop_back();
    while (end_round(index)) enter_next_round(index);
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    assert(members_[i].round == rounds_);
    times_[i].done_ns = members_[i].now.time_ns;
    times_[i].parts = members_[i].now.parts;
  }
  return std::move(times_);
}

GroupWalk::Wire& GroupWalk::wire_from(Member& member, int peer) {
  for (Wire& wire : member.wires)
    if (wire.peer == peer) return wire;
  member.wires.push_back({});
  member.wires.back().peer = peer;
  return member.wires.back();
}

// Whether all that the member's round waits for is known: there may be several messages from one peer.
bool GroupWalk::has_arrived(Member& member) const {
  bool is_complete = true;
  for (const Message& message : member.messages.receives) {
    Wire& wire = wire_from(member, message.peer);
    is_complete = is_complete && wire.next + wire.claimed++ < wire.arrivals.size();
  }
  for (const Message& message : member.messages.receives) wire_from(member, message.peer).claimed = 0;
  return is_complete;
}

// Moves the member's clock to the end of its round if all that it waits for is known. "Before the first
// round" ends at once.
bool GroupWalk::end_round(int index) {
  Member& member = members_[static_cast<std::size_t>(index)];
  if (member.round == rounds_ || !has_arrived(member)) return false;
  if (collective_.awaits_delivery() && member.held_back > 0) return false;
  for (const Message& message : member.messages.receives) {
    Wire& wire = wire_from(member, message.peer);
    member.now = later(member.now, wire.arrivals[wire.next]);
    if (++wire.next == wire.arrivals.size()) wire.arrivals.clear(), wire.next = 0;
  }
  if (collective_.awaits_delivery()) member.now = later(member.now, member.delivered);
  return true;
}

void GroupWalk::enter_next_round(int index) {
  Member& member = members_[static_cast<std::size_t>(index)];
  member.messages = {};
  ++member.round;
  if (awaits_receiver_) {
    member.entered.push_back(member.now);
    send_held(index);
  }
  if (member.round == rounds_) return;
  member.messages = collective_.round(exchange_, index, member.round);
  for (const Message& message : member.messages.sends) {
    const Member& receiver = members_[static_cast<std::size_t>(message.peer)];
    const Handed handed{index, message.peer, member.sent++, member.round, message.bytes, member.now};
    if (!awaits_receiver_) {
      send(handed, posted_[static_cast<std::size_t>(message.peer)]);
    } else if (receiver.round >= member.round) {
      send(handed, receiver.entered[static_cast<std::size_t>(member.round)]);
    } else {
      ++member.held_back;
      members_[static_cast<std::size_t>(message.peer)].held.push_back(handed);
    }
  }
}

void GroupWalk::send_held(int index) {
  Member& member = members_[static_cast<std::size_t>(index)];
  std::vector<Handed> later;
  for (const Handed& handed : std::exchange(member.held, {})) {
    if (handed.round > member.round) {
      later.push_back(handed);
      continue;
    }
    --members_[static_cast<std::size_t>(handed.from)].held_back;
    send(handed, member.now);
    to_walk_.push_back(handed.from);
  }
  member.held = std::move(later);
}

// `ready`: from when on the receiver takes it. What the message before it from the same sender keeps it for
// is waiting: messages do not overtake each other.
void GroupWalk::send(const Handed& message, const Moment& ready) {
  Member& member = members_[static_cast<std::size_t>(message.from)];
  const int source = group_[static_cast<std::size_t>(message.from)];
  const int target = group_[static_cast<std::size_t>(message.to)];
  const MessageCosts::Way& way = costs_.way(source, target);
  Wire& wire = wire_from(members_[static_cast<std::size_t>(message.to)], message.from);
  const Moment& begin = later(message.since, ready);
  const MessageKey key{name_.step, name_.rule, source, message.number, name_.bucket};
  const std::int64_t time_ns = costs_.time_ns(key, way, message.bytes);
  const std::int64_t end_ns = std::max(wire.latest_ns, begin.time_ns + time_ns);
  SyncParts parts;
  parts.latency_s = seconds(std::min(time_ns, costs_.latency_ns(way)));
  parts.bytes_s = seconds(time_ns) - parts.latency_s;
  parts.waiting_s = seconds(end_ns - begin.time_ns - time_ns);
  const Moment end{end_ns, chain_after(begin, parts, end_ns)};
  wire.latest_ns = end_ns;
  wire.arrivals.push_back(end);
  member.delivered = later(member.delivered, end);
  for (const LinkDirection direction : way.directions)
    busy_.add(direction, begin.time_ns, end_ns, costs_.wire_bytes(message.bytes));
  times_[static_cast<std::size_t>(message.from)].bytes_sent += message.bytes;
  ++transfers_;
  to_walk_.push_back(message.to);
}

SyncParts GroupWalk::chain_after(const Moment& begin, const SyncParts& message, std::int64_t end_ns) const {
  if (end_ns <= start_ns_) return {};
  if (begin.time_ns < start_ns_) return last_seconds(message, seconds(end_ns - start_ns_));
  SyncParts chain = begin.parts;
  return chain += message;
}

}  // namespace longhaul
