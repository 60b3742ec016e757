#include "net/analytic/group_walk.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace longhaul {

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

std::vector<GroupWalk::Times> GroupWalk::walk(const std::vector<std::int64_t>& posted_ns) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    times_[i].posted_ns = members_[i].now_ns = posted_ns[i];
    to_walk_.push_back(static_cast<int>(i));
  }
  while (!to_walk_.empty()) {
    const int index = to_walk_.back();
    to_walk_.pop_back();
    while (end_round(index)) enter_next_round(index);
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    assert(members_[i].round == rounds_);
    times_[i].done_ns = members_[i].now_ns;
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
    member.now_ns = std::max(member.now_ns, wire.arrivals[wire.next]);
    if (++wire.next == wire.arrivals.size()) wire.arrivals.clear(), wire.next = 0;
  }
  if (collective_.awaits_delivery()) member.now_ns = std::max(member.now_ns, member.delivered_ns);
  return true;
}

void GroupWalk::enter_next_round(int index) {
  Member& member = members_[static_cast<std::size_t>(index)];
  member.messages = {};
  ++member.round;
  if (awaits_receiver_) {
    member.entered_ns.push_back(member.now_ns);
    send_held(index);
  }
  if (member.round == rounds_) return;
  member.messages = collective_.round(exchange_, index, member.round);
  for (const Message& message : member.messages.sends) {
    const Member& receiver = members_[static_cast<std::size_t>(message.peer)];
    const Handed handed{index, message.peer, member.sent++, member.round, message.bytes, member.now_ns};
    if (!awaits_receiver_) {
      send(handed, times_[static_cast<std::size_t>(message.peer)].posted_ns);
    } else if (receiver.round >= member.round) {
      send(handed, receiver.entered_ns[static_cast<std::size_t>(member.round)]);
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
    send(handed, member.now_ns);
    to_walk_.push_back(handed.from);
  }
  member.held = std::move(later);
}

// `ready_ns`: from when on the receiver takes it.
void GroupWalk::send(const Handed& message, std::int64_t ready_ns) {
  Member& member = members_[static_cast<std::size_t>(message.from)];
  const int source = group_[static_cast<std::size_t>(message.from)];
  const int target = group_[static_cast<std::size_t>(message.to)];
  const MessageCosts::Way& way = costs_.way(source, target);
  Wire& wire = wire_from(members_[static_cast<std::size_t>(message.to)], message.from);
  const std::int64_t begin_ns = std::max(message.since_ns, ready_ns);
  const MessageKey key{name_.step, name_.rule, source, message.number, name_.bucket};
  const std::int64_t end_ns = std::max(wire.latest_ns, begin_ns + costs_.time_ns(key, way, message.bytes));
  wire.latest_ns = end_ns;
  wire.arrivals.push_back(end_ns);
  member.delivered_ns = std::max(member.delivered_ns, end_ns);
  for (const LinkDirection direction : way.directions)
    busy_.add(direction, begin_ns, end_ns, costs_.wire_bytes(message.bytes));
  times_[static_cast<std::size_t>(message.from)].bytes_sent += message.bytes;
  ++transfers_;
  to_walk_.push_back(message.to);
}

}  // namespace longhaul
