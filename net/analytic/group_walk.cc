#include "net/analytic/group_walk.h"

#include <algorithm>
#include <cassert>

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
  member.wires.push_back({peer, 0, {}, 0});
  return member.wires.back();
}

// Moves the member's clock to the end of its round if all that it waits for is known. "Before the first
// round" ends at once.
bool GroupWalk::end_round(int index) {
  Member& member = members_[static_cast<std::size_t>(index)];
  if (member.round == rounds_) return false;
  for (const Message& message : member.messages.receives) {
    const Wire& wire = wire_from(member, message.peer);
    if (wire.next == wire.arrivals.size()) return false;
  }
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
  if (++member.round == rounds_) return;
  member.messages = collective_.round(exchange_, index, member.round);
  for (const Message& message : member.messages.sends) send(index, message);
}

void GroupWalk::send(int index, const Message& message) {
  Member& member = members_[static_cast<std::size_t>(index)];
  Times& times = times_[static_cast<std::size_t>(index)];
  const auto to = static_cast<std::size_t>(message.peer);
  const int source = group_[static_cast<std::size_t>(index)];
  const MessageCosts::Way& way = costs_.way(source, group_[to]);
  Wire& wire = wire_from(members_[to], index);
  const std::int64_t begin_ns = std::max(member.now_ns, times_[to].posted_ns);
  const MessageKey key{name_.step, name_.rule, source, member.sent++};
  const std::int64_t end_ns = std::max(wire.latest_ns, begin_ns + costs_.time_ns(key, way, message.bytes));
  wire.latest_ns = end_ns;
  wire.arrivals.push_back(end_ns);
  member.delivered_ns = std::max(member.delivered_ns, end_ns);
  for (const LinkDirection direction : way.directions)
    busy_.add(direction, begin_ns, end_ns, costs_.wire_bytes(message.bytes));
  times.bytes_sent += message.bytes;
  ++transfers_;
  to_walk_.push_back(message.peer);
}

}  // namespace longhaul
