#include "net/analytic/sliced_walk.h"

#include <algorithm>
#include <cmath>

#include "net/collectives/slices.h"

namespace longhaul {
namespace {

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

}  // namespace

SlicedWalk::SlicedWalk(const Collective& collective, const GroupExchange& exchange,
                       const std::vector<int>& group, const Rules& rules, MessageCosts& costs,
                       BusyTimes& busy)
    : collective_(collective),
      exchange_(exchange),
      group_(group),
      rules_(rules),
      costs_(costs),
      busy_(busy),
      rounds_(collective.rounds(exchange)),
      awaits_delivery_(collective.awaits_delivery() && rules.slices == 1),
      walks_(group.size() * static_cast<std::size_t>(rules.slices)),
      times_(group.size()) {}

std::vector<SlicedWalk::Times> SlicedWalk::walk(const std::vector<Moment>& posted, std::int64_t start_ns) {
  posted_ = posted;
  start_ns_ = start_ns;
  for (int member = 0; member < members(); ++member) {
    times_[static_cast<std::size_t>(member)].posted_ns = posted[static_cast<std::size_t>(member)].time_ns;
    events_.push({posted[static_cast<std::size_t>(member)], numbers_++, -1, member});
  }
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    if (event.from < 0) {
      post(event.to, event.moment);
      continue;
    }
    Walk& walk = at(event.to);
    if (surplus_of(walk, owner_of(event.from))++ < 0) --walk.missing;
    --at(event.from).undelivered;
    if (awaits_delivery_) advance(event.from, event.moment);
    if (walk.round >= 0) advance(event.to, event.moment);
  }
  return std::move(times_);
}

int& SlicedWalk::surplus_of(Walk& walk, int peer) {
  for (auto& [known, number] : walk.surplus)
    if (known == peer) return number;
  return walk.surplus.emplace_back(peer, 0).second;
}

// All slices of the first round are handed over before any of a later one.
void SlicedWalk::post(int member, const Moment& moment) {
  const auto end = static_cast<int>(walks_.size());
  for (int walk = member; walk < end; walk += members()) {
    at(walk).now = moment;
    enter_next_round(walk);
  }
  for (int walk = member; walk < end; walk += members()) advance(walk, moment);
}

void SlicedWalk::advance(int index, const Moment& moment) {
  Walk& walk = at(index);
  while (walk.round < rounds_ && walk.missing == 0 && (!awaits_delivery_ || walk.undelivered == 0)) {
    walk.now = moment;
    enter_next_round(index);
  }
  Times& times = times_[static_cast<std::size_t>(owner_of(index))];
  if (walk.round < rounds_ || walk.now.time_ns < times.done_ns) return;
  times.done_ns = walk.now.time_ns;
  times.parts = walk.now.parts;
}

void SlicedWalk::enter_next_round(int index) {
  Walk& walk = at(index);
  if (++walk.round == rounds_) return;
  const Round whole = collective_.round(exchange_, owner_of(index), walk.round);
  const Round round = slice_of(whole, index / members(), rules_.slices);
  for (const Message& message : round.receives)
    if (--surplus_of(walk, message.peer) < 0) ++walk.missing;
  for (const Message& message : round.sends) send(index, message);
}

// What an eager sender may push leaves at once, the rest when the receiver has posted. Waiting for earlier
// messages of the same connection is time spent on bytes.
void SlicedWalk::send(int from, const Message& message) {
  const int to = from - owner_of(from) + message.peer;
  const int source = group_[static_cast<std::size_t>(owner_of(from))];
  const int target = group_[static_cast<std::size_t>(message.peer)];
  const Moment& handed = at(from).now;
  const Moment& ready = posted_[static_cast<std::size_t>(message.peer)];
  const MessageCosts::Way& way = costs_.way(source, target);
  Connection& connection = connections_[{owner_of(from), message.peer}];
  const auto bytes = static_cast<double>(message.bytes);
  double pushed = 0;
  if (ready.time_ns > handed.time_ns && !collective_.awaits_receiver())
    pushed = std::min(bytes, std::floor(std::max(0., rules_.eager_bytes - connection.pushed)));
  connection.pushed += pushed;
  const auto sending_ns = [&](double part) -> std::int64_t {
    return std::llround(part / way.bytes_per_s * 1e9);
  };
  const std::int64_t begin_ns = std::max(handed.time_ns, connection.free_ns);
  std::int64_t sent_ns = begin_ns + sending_ns(bytes);
  const bool waits = pushed < bytes && ready.time_ns > handed.time_ns;
  if (waits) sent_ns = std::max(ready.time_ns, begin_ns + sending_ns(pushed)) + sending_ns(bytes - pushed);
  connection.free_ns = sent_ns;
  const std::int64_t end_ns = sent_ns + costs_.latency_ns(way);

  const Moment& begin = waits ? ready : handed;
  SyncParts parts;
  parts.latency_s = seconds(costs_.latency_ns(way));
  parts.bytes_s = seconds(end_ns - begin.time_ns) - parts.latency_s;
  SyncParts chain = begin.parts;
  if (end_ns <= start_ns_)
    chain = {};
  else if (begin.time_ns < start_ns_)
    chain = last_seconds(parts, seconds(end_ns - start_ns_));
  else
    chain += parts;

  for (const LinkDirection direction : way.directions)
    busy_.add(direction, begin_ns, end_ns, costs_.wire_bytes(message.bytes));
  times_[static_cast<std::size_t>(owner_of(from))].bytes_sent += message.bytes;
  ++at(from).undelivered;
  ++transfers_;
  events_.push({{end_ns, chain}, numbers_++, from, to});
}

}  // namespace longhaul
