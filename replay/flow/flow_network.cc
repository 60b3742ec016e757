#include "replay/flow/flow_network.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/base/index.h"
#include "net/tcp/congestion.h"
#include "net/tcp/framing.h"

namespace longhaul {
namespace {

std::vector<double> capacities(const Topology& topology) {
  std::vector<double> capacity;
  for (int direction = 0; direction < 2 * topology.link_count(); ++direction)
    capacity.push_back(topology.rate(direction));
  return capacity;
}

std::int64_t nanoseconds(double time_s) {
  return std::llround(time_s * 1e9);
}

}  // namespace

FlowNetwork::FlowNetwork(const TcpSpec& tcp, const Topology& topology, FlowClock& clock, std::uint64_t seed,
                         FairShares::Reference reference)
    : tcp_(tcp),
      topology_(topology),
      reference_(reference),
      shares_(capacities(topology), ack_share(tcp.segment)),
      channels_(tcp_, topology, shares_, seed),
      loads_(as_index(2 * topology.link_count())),
      steady_(clock, channels_, shares_, events_, loads_),
      clock_(clock) {
  clock_.carry([this] { wake(); });
  if (tcp_.queue == "fifo")
    throw std::logic_error("fidelity flow has no FIFO");  // parse_network() refuses it
}

void FlowNetwork::vary(std::unique_ptr<Variation> variation) {
  if (channels_.size() > 0) throw std::logic_error("a network varies before anything is sent, or never");
  variation_ = std::make_unique<FlowVariation>(std::move(variation), topology_, tcp_, shares_);
  channels_.vary(variation_.get());
}

// What an instant touches is a list of channels; the next ones come from memory while one is worked on.
void FlowNetwork::prefetch(const std::vector<int>& numbers, std::size_t after) const {
  constexpr std::size_t kAhead = 6;
  constexpr int kLines = 4;  // what a change of the rate looks at
  if (after + kAhead < numbers.size()) channels_.prefetch<kLines>(numbers[after + kAhead]);
}

void FlowNetwork::send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts) {
  const std::int64_t bytes = transfer.bytes;
  const int first = channels_.number_of(transfer.source, transfer.target),
            count = static_cast<int>(std::min<std::int64_t>(channels_.channels_a_pair(), bytes));
  is_touched_.resize(channels_.size());
  if (count == 1) return send_part(first, bytes, std::move(on_arrival), parts);
  send_parts(first, count, bytes, std::move(on_arrival), parts);
}

// Split evenly over the channels; all of it has arrived when all parts have, and its time is that of the last
// one.
void FlowNetwork::send_parts(int first, int count, std::int64_t bytes, Arrival on_arrival, SyncParts* parts) {
  struct Open {
    int count;
    Arrival on_arrival;
    SyncParts* parts;
    std::vector<SyncParts> of_part;
  };
  const auto open = std::make_shared<Open>(
      Open{count, std::move(on_arrival), parts, std::vector<SyncParts>(as_index(count))});
  for (int part = 0; part < count; ++part) {
    SyncParts* own = &open->of_part[as_index(part)];
    const auto arrived = [open, own] {
      if (--open->count > 0) return;
      if (open->parts) *open->parts += *own;
      open->on_arrival();
    };
    send_part(first + part, (part + 1) * bytes / count - part * bytes / count, arrived, own);
  }
}

void FlowNetwork::send_part(int number, std::int64_t bytes, Arrival on_arrival, SyncParts* parts) {
  FlowChannel& channel = channels_[number].channel;
  const std::int64_t now = clock_.now_ns();
  if (channel.transfers() == 0) {
    touch(number);
    ++sending_;
  }
  channel.push({bytes, std::move(on_arrival), parts}, steady_.channel_s(now));
  release(number, now);
  loads_.begin(channel.facts().data, seconds_of(now));
  if (!is_awake_) wake_at(now);
}

// Where nothing is drawn.
bool FlowNetwork::note_equal_round(EqualRound round) {
  return !variation_ && !channels_.are_single() && steady_.note(std::move(round));
}

void FlowNetwork::touch(int number) {
  char& is_touched = is_touched_[as_index(number - channels_.first())];
  if (is_touched) return;
  is_touched = 1;
  touched_.push_back(number);
}

void FlowNetwork::wake_at(std::int64_t time_ns) {
  if (time_ns >= wake_ns_) return;
  wake_ns_ = time_ns;
  clock_.set_alarm_ns(time_ns - clock_.now_ns());
}

// Everything of this instant: what is due, what it sets off, and the rates after it.
void FlowNetwork::wake() {
  constexpr std::uint64_t kInstantsPerBeat = 256;
  constexpr int kSlotLines = sizeof(Slot) / 64;
  const std::int64_t now = clock_.now_ns();
  if (now != wake_ns_) return;
  is_awake_ = true;
  if (instants_++ % kInstantsPerBeat == 0) beat();
  const auto is_variation_due = [&] { return variation_ && variation_->is_due(now); };
  while (!touched_.empty() || events_.next_ns() <= now || is_variation_due()) {
    while (events_.next_ns() <= now) {
      events_.take(due_);
      for (std::size_t i = 0; i < due_.size(); ++i) {
        constexpr std::size_t kAhead = 4;
        if (i + kAhead < due_.size()) channels_.prefetch<kSlotLines>(due_[i + kAhead] / 2);
        const int event = due_[i];
        event % 2 == 0 ? look_at(event / 2, now) : arrive(event / 2, now);
      }
    }
    if (is_variation_due()) follow_variation(now);
    share_links(now);
  }
  is_awake_ = false;
  wake_ns_ = InstantQueue::kNever;
  if (steady_.has_noted()) steady_.follow(now);
  pass_over_moved();
  if (const std::int64_t next_ns = next_wake_ns(); next_ns != InstantQueue::kNever) wake_at(next_ns);
}

std::int64_t FlowNetwork::next_wake_ns() {
  const std::int64_t next_ns = events_.next_ns();
  if (!variation_ || sending_ == 0) return next_ns;
  return std::min(next_ns, variation_->next_wake_ns(next_ns != InstantQueue::kNever));
}

// What was sent until now was sent under the conditions that end now.
void FlowNetwork::follow_variation(std::int64_t now_ns) {
  variation_->advance_to(now_ns);
  for (int number = channels_.first(); number < channels_.end(); ++number) {
    Slot& slot = channels_[number];
    if (!variation_->concerns(slot.origin->facts)) continue;
    if (slot.channel.transfers() > 0) {
      slot.channel.advance(steady_.channel_s(now_ns));
      finish_transfers(number, now_ns);
    }
    slot.channel.follow_path(
        variation_->present(slot.origin->facts, slot.origin->source, slot.origin->target));
    if (channels_.has_losses()) slot.channel.reaction()->set_loss(channels_.loss_of(slot.origin->facts));
    shares_.set_cap(number, channels_.cap(slot.channel));
    touch(number);
  }
}

// A change that was put off left its event in the queue: it is moved when it comes up, before the clock is
// asked for an alarm at that instant.
void FlowNetwork::pass_over_moved() {
  while (events_.next_ns() != InstantQueue::kNever) {
    const int event = events_.only_next();
    if (event < 0 || event % 2 != 0) return;
    Slot& slot = channels_[event / 2];
    const std::int64_t time_ns = events_.next_ns();
    if (slot.event_ns == time_ns && slot.planned_ns == time_ns) return;
    events_.take(due_);
    if (slot.event_ns != time_ns) continue;
    slot.event_ns = InstantQueue::kNever;
    set_event(event / 2);
  }
}

void FlowNetwork::look_at(int number, std::int64_t now_ns) {
  Slot& slot = channels_[number];
  if (slot.event_ns != now_ns) return;
  slot.event_ns = InstantQueue::kNever;
  if (slot.planned_ns == InstantQueue::kNever) return;
  if (slot.planned_ns > now_ns) return set_event(number);
  slot.channel.advance(steady_.channel_s(now_ns));
  finish_transfers(number, now_ns);
  touch(number);
}

void FlowNetwork::arrive(int number, std::int64_t now_ns) {
  Slot& slot = channels_[number];
  loads_.end(slot.channel.facts().data, seconds_of(now_ns));
  const Arrival arrived = std::move(slot.travelling.front());
  slot.travelling.pop_front();
  arrived();
}

void FlowNetwork::finish_transfers(int number, std::int64_t now_ns) {
  Slot& slot = channels_[number];
  const CongestionReaction* const reaction = slot.channel.reaction();
  release(number, now_ns);
  while (slot.channel.is_first_sent()) {
    FlowChannel::Transmission transfer = slot.channel.pop(steady_.channel_s(now_ns));
    count(slot.channel, transfer.bytes);
    if (slot.channel.transfers() == 0) --sending_;
    if (reaction && reaction->lost() > reaction->repaired())
      held_[number].push_back({std::move(transfer), reaction->lost(), now_ns});
    else
      travel(number, std::move(transfer), now_ns);
  }
}

// What has been sent with all that was lost of it.
void FlowNetwork::travel(int number, FlowChannel::Transmission transfer, std::int64_t now_ns) {
  Slot& slot = channels_[number];
  const double tail = channels_.tail_s(slot, transfer.bytes);
  slot.latest_arrival_ns = std::max(slot.latest_arrival_ns, now_ns + nanoseconds(tail));
  if (transfer.parts) transfer.parts->latency_s += seconds_of(slot.latest_arrival_ns - now_ns);
  slot.travelling.push_back(std::move(transfer.on_arrival));
  events_.push(slot.latest_arrival_ns, 2 * number + 1);
}

void FlowNetwork::release(int number, std::int64_t now_ns) {
  if (held_.empty()) return;
  const auto found = held_.find(number);
  if (found == held_.end()) return;
  std::deque<Held>& held = found->second;
  for (; !held.empty() && held.front().lost <= channels_[number].channel.reaction()->repaired();
       held.pop_front()) {
    Held& first = held.front();
    if (first.transfer.parts) first.transfer.parts->congestion_s += seconds_of(now_ns - first.sent_ns);
    travel(number, std::move(first.transfer), now_ns);
  }
  if (held.empty()) held_.erase(found);
}

void FlowNetwork::count(const FlowChannel& channel, std::int64_t bytes) {
  const std::int64_t segments = (bytes + tcp_.segment - 1) / tcp_.segment;
  for (const LinkDirection direction : channel.facts().data)
    loads_.add_bytes(direction, bytes + segments * kHeaderBytes);
}

void FlowNetwork::share_links(std::int64_t now_ns) {
  if (steady_.has_noted()) std::sort(touched_.begin(), touched_.end());
  const double payload_bytes_per_bit = payload_share(tcp_.segment) / 8;
  for (const int number : touched_) {
    const FlowChannel& channel = channels_[number].channel;
    if (channel.limits_itself()) shares_.set_cap(number, channels_.cap(channel));
    channel.transfers() > 0 && channel.may_send() ? shares_.start(number) : shares_.stop(number);
  }
  const std::vector<int>& changed = reference_ ? shares_.solve_all(reference_) : shares_.solve();
  for (std::size_t i = 0; i < changed.size(); ++i) {
    prefetch(changed, i);
    const int number = changed[i];
    if (number < channels_.first() || is_touched_[as_index(number - channels_.first())]) continue;
    channels_[number].channel.advance(steady_.channel_s(now_ns));
    release(number, now_ns);
    touch(number);
  }
  due_.swap(touched_);
  touched_.clear();
  for (std::size_t i = 0; i < due_.size(); ++i) {
    prefetch(due_, i);
    const int number = due_[i];
    Slot& slot = channels_[number];
    is_touched_[as_index(number - channels_.first())] = 0;
    if (slot.channel.transfers() > 0 && slot.channel.may_send())
      slot.channel.set_rate(shares_.rate(number) * payload_bytes_per_bit, steady_.channel_s(now_ns));
    plan(number, now_ns);
  }
}

void FlowNetwork::plan(int number, std::int64_t now_ns) {
  Slot& slot = channels_[number];
  const double wait_s = slot.channel.wait_s(steady_.channel_s(now_ns));
  constexpr double kLongest_s = 4e9;  // a century; in an outage, for ever
  slot.planned_ns = wait_s < kLongest_s ? now_ns + nanoseconds(std::max(0., wait_s)) : InstantQueue::kNever;
  set_event(number);
}

void FlowNetwork::set_event(int number) {
  Slot& slot = channels_[number];
  if (slot.event_ns <= slot.planned_ns) return;
  slot.event_ns = slot.planned_ns;
  events_.push(slot.planned_ns, 2 * number);
}

}  // namespace longhaul
