#include "sim/network/flow_network.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "net/framing.h"
#include "sim/network/clock.h"

namespace longhaul {
namespace {

std::vector<double> capacities(const Topology& topology) {
  std::vector<double> capacity;
  for (int direction = 0; direction < 2 * topology.link_count(); ++direction)
    capacity.push_back(topology.rate(direction));
  return capacity;
}

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

std::int64_t nanoseconds(double time_s) {
  return std::llround(time_s * 1e9);
}

}  // namespace

FlowNetwork::FlowNetwork(const TcpSpec& tcp, const Topology& topology, Solving solving)
    : tcp_(tcp),
      topology_(topology),
      solving_(solving),
      shares_(capacities(topology), ack_share(tcp.segment)),
      loads_(static_cast<std::size_t>(2 * topology.link_count())) {}

int FlowNetwork::number_of(int source, int target) {
  const std::uint64_t ends = static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint32_t>(target);
  const auto known = numbers_.find(ends);
  if (known != numbers_.end()) return known->second;
  const FlowChannel::Rules rules{tcp_.connections, static_cast<double>(tcp_.segment),
                                 tcp_.congestion_control == "cubic"};
  slots_.emplace_back(connection_facts(topology_, tcp_, source, target), rules);
  const FlowChannel& channel = slots_.back().channel;
  const int number =
      shares_.add({&channel.facts().data, &channel.facts().acks, static_cast<double>(channel.connections()),
                   channel.rate_limit() * 8 / payload_share(tcp_.segment)});
  return numbers_[ends] = number;
}

void FlowNetwork::send(int source, int target, std::int64_t bytes, Arrival on_arrival) {
  const int number = number_of(source, target);
  FlowChannel& channel = slot(number).channel;
  const std::int64_t now = now_ns();
  if (!channel.has_data()) touch(number);
  channel.push({bytes, std::move(on_arrival)}, seconds(now));
  loads_.begin(channel.facts().data, seconds(now));
  if (!is_awake_) wake_at(now);
}

void FlowNetwork::touch(int number) {
  if (slot(number).is_touched) return;
  slot(number).is_touched = true;
  touched_.push_back(number);
}

void FlowNetwork::wake_at(std::int64_t time_ns) {
  if (time_ns >= wake_ns_) return;
  wake_ns_ = time_ns;
  after_ns(time_ns - now_ns(), [this] { wake(); });
}

// Everything of this instant: what is due, what it sets off, and the rates after it.
void FlowNetwork::wake() {
  constexpr std::uint64_t kInstantsPerBeat = 256;
  const std::int64_t now = now_ns();
  if (now != wake_ns_) return;
  is_awake_ = true;
  if (instants_++ % kInstantsPerBeat == 0) beat();
  while (!touched_.empty() || events_.next_ns() <= now) {
    while (events_.next_ns() <= now) {
      events_.take(due_);
      for (const int event : due_) event % 2 == 0 ? look_at(event / 2, now) : arrive(event / 2, now);
    }
    share_links(now);
  }
  is_awake_ = false;
  wake_ns_ = InstantQueue::kNever;
  if (events_.next_ns() != InstantQueue::kNever) wake_at(events_.next_ns());
}

// A change that was put off left its event in the queue: it is moved when it comes up.
void FlowNetwork::look_at(int number, std::int64_t now_ns) {
  Slot& one = slot(number);
  if (one.event_ns != now_ns) return;
  one.event_ns = InstantQueue::kNever;
  if (!one.channel.has_data()) return;
  if (one.planned_ns > now_ns) return set_event(number);
  one.channel.advance(seconds(now_ns));
  finish_transfers(number, now_ns);
  touch(number);
}

void FlowNetwork::arrive(int number, std::int64_t now_ns) {
  Slot& one = slot(number);
  loads_.end(one.channel.facts().data, seconds(now_ns));
  const Arrival arrived = std::move(one.travelling.front());
  one.travelling.pop_front();
  arrived();
}

void FlowNetwork::finish_transfers(int number, std::int64_t now_ns) {
  Slot& one = slot(number);
  while (one.channel.has_data() && one.channel.is_first_sent()) {
    FlowChannel::Transfer transfer = one.channel.pop(seconds(now_ns));
    count(one.channel, transfer.bytes);
    const double tail = tail_s(topology_, one.channel.facts(), tcp_.segment, transfer.bytes);
    one.latest_arrival_ns = std::max(one.latest_arrival_ns, now_ns + nanoseconds(tail));
    one.travelling.push_back(std::move(transfer.on_arrival));
    events_.push(one.latest_arrival_ns, 2 * number + 1);
  }
}

void FlowNetwork::count(const FlowChannel& channel, std::int64_t bytes) {
  const std::int64_t segments = (bytes + tcp_.segment - 1) / tcp_.segment;
  for (const LinkDirection direction : channel.facts().data)
    loads_.add_bytes(direction, bytes + segments * kHeaderBytes);
}

void FlowNetwork::share_links(std::int64_t now_ns) {
  const double payload_bytes_per_bit = payload_share(tcp_.segment) / 8;
  for (const int number : touched_) {
    const FlowChannel& channel = slot(number).channel;
    channel.has_data() && channel.may_send() ? shares_.start(number) : shares_.stop(number);
  }
  const std::vector<int>& changed = solving_ == Solving::kTouched ? shares_.solve() : shares_.solve_all();
  assert(shares_.is_conserving());
  for (const int number : changed)
    if (!slot(number).is_touched) {
      slot(number).channel.advance(seconds(now_ns));
      touch(number);
    }
  due_.swap(touched_);
  touched_.clear();
  for (const int number : due_) {
    Slot& one = slot(number);
    one.is_touched = false;
    if (one.channel.has_data() && one.channel.may_send())
      one.channel.set_rate(shares_.rate(number) * payload_bytes_per_bit, seconds(now_ns));
    plan(number, now_ns);
  }
}

void FlowNetwork::plan(int number, std::int64_t now_ns) {
  Slot& one = slot(number);
  const FlowChannel& channel = one.channel;
  if (!channel.has_data()) {
    one.planned_ns = InstantQueue::kNever;
    return;
  }
  const double wait_s = channel.may_send() ? channel.next_change_s() : channel.release_s() - seconds(now_ns);
  one.planned_ns = now_ns + nanoseconds(std::max(0., wait_s));
  set_event(number);
}

void FlowNetwork::set_event(int number) {
  Slot& one = slot(number);
  if (one.event_ns <= one.planned_ns) return;
  one.event_ns = one.planned_ns;
  events_.push(one.planned_ns, 2 * number);
}

}  // namespace longhaul
