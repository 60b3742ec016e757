#include "sim/network/flow_network.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/base/index.h"
#include "net/tcp/congestion.h"
#include "net/tcp/framing.h"
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

bool has_signals(const TcpSpec& tcp) {
  return tcp.queue == "fq_codel" || tcp.loss > 0;
}

}  // namespace

FlowNetwork::FlowNetwork(const TcpSpec& tcp, const Topology& topology, Solving solving, std::uint64_t seed)
    : tcp_(tcp),
      topology_(topology),
      solving_(solving),
      seed_(seed),
      slots_a_pair_(has_signals(tcp) ? tcp.connections : 1),
      shares_(capacities(topology), ack_share(tcp.segment)),
      numbers_(as_index(topology.replicas()), PeerMap(-1)),
      loads_(as_index(2 * topology.link_count())),
      alarm_([this] { wake(); }) {
  if (tcp_.queue == "fifo")
    throw std::logic_error("fidelity flow has no FIFO");  // parse_network() refuses it
}

int FlowNetwork::number_of(int source, int target) {
  int& number = numbers_[as_index(source)][target];
  if (number >= 0) return number;
  return number = add_slots(source, target);
}

void FlowNetwork::vary(std::unique_ptr<Variation> variation) {
  if (!slots_.empty()) throw std::logic_error("a network varies before anything is sent, or never");
  variation_ = std::make_unique<FlowVariation>(std::move(variation), topology_, tcp_, shares_);
  first_slot_ = variation_->cross_flows();
  if (has_losses()) slots_a_pair_ = tcp_.connections;
}

double FlowNetwork::cap(const FlowChannel& channel) const {
  const double rate_limit =
      std::min(channel.rate_limit() * 8 / payload_share(tcp_.segment), channel.facts().ack_limit);
  return variation_ ? variation_->cap(channel.facts(), rate_limit) : rate_limit;
}

// The transfers of a channel are mostly equal, and the links of its path lie far from each other.
double FlowNetwork::tail_s(Slot& slot, std::int64_t bytes) const {
  if (variation_) return variation_->tail_s(slot.channel.facts(), bytes);
  const std::int64_t last = (bytes - 1) % tcp_.segment + 1;
  if (slot.tail_bytes == last) return slot.tail_s;
  slot.tail_bytes = last;
  return slot.tail_s = longhaul::tail_s(topology_, slot.channel.facts(), tcp_.segment, bytes);
}

// What an instant touches is a list of channels; the next ones come from memory while one is worked on.
void FlowNetwork::prefetch(const std::vector<int>& numbers, std::size_t after) const {
  constexpr std::size_t kAhead = 6;
  constexpr int kLines = 4;  // what a change of the rate looks at
  if (after + kAhead >= numbers.size()) return;
  const int number = numbers[after + kAhead];
  if (number >= first_slot_) slots_.prefetch<kLines>(as_index(number - first_slot_));
}

// The number of the first one.
int FlowNetwork::add_slots(int source, int target) {
  const ConnectionFacts facts = connection_facts(topology_, tcp_, source, target);
  const FlowChannel::Rules rules{tcp_.connections / slots_a_pair_,
                                 static_cast<double>(tcp_.segment),
                                 tcp_.congestion_control == "cubic",
                                 has_losses() && tcp_.loss_response == "linux",
                                 payload_rate(facts.bottleneck, tcp_.segment),
                                 slots_a_pair_,
                                 tcp_.slow_start_after_idle};
  int number = -1;
  for (int connection = 0; connection < slots_a_pair_; ++connection) {
    slots_.emplace_back(variation_ ? variation_->present(facts, source, target) : facts, rules,
                        make_reaction(facts, source, target, connection));
    is_touched_.push_back(0);
    if (variation_) slots_.back().origin = std::make_unique<Origin>(Origin{facts, source, target});
    FlowChannel& channel = slots_.back().channel;
    number = shares_.add(
        {&channel.facts().data, &channel.facts().acks, static_cast<double>(rules.connections), cap(channel)});
  }
  return number - (slots_a_pair_ - 1);
}

// Of a packet on the way of the data, now.
double FlowNetwork::loss_of(const ConnectionFacts& facts) const {
  return path_loss(tcp_.loss, static_cast<int>(facts.data.size()),
                   variation_ ? variation_->losses(facts) : std::vector<double>());
}

std::unique_ptr<CongestionReaction> FlowNetwork::make_reaction(const ConnectionFacts& facts, int source,
                                                               int target, int connection) const {
  if (!has_signals(tcp_) && !has_losses()) return nullptr;
  std::unique_ptr<QueueSignals> queue;
  if (tcp_.queue == "fq_codel") queue = std::make_unique<CoDel>(tcp_.ecn);
  std::optional<RandomLosses> losses;
  if (has_losses()) {
    RandomStream stream(seed_, Purpose::kLoss, static_cast<std::uint32_t>(source),
                        static_cast<std::uint32_t>(target) << 16 | static_cast<std::uint32_t>(connection));
    losses.emplace(loss_of(facts), tcp_.segment, std::move(stream));
  }
  return std::make_unique<CongestionReaction>(facts.rtt_s, retransmission_timeout_s(facts.rtt_s),
                                              std::move(queue), std::move(losses),
                                              tcp_.loss_response == "linux");
}

void FlowNetwork::send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts) {
  const std::int64_t bytes = transfer.bytes;
  const int first = number_of(transfer.source, transfer.target),
            count = static_cast<int>(std::min<std::int64_t>(slots_a_pair_, bytes));
  if (count == 1) return send_part(first, bytes, std::move(on_arrival), parts);
  send_parts(first, count, bytes, std::move(on_arrival), parts);
}

// Split evenly over the slots; all of it has arrived when all parts have, and its time is that of the last
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
  FlowChannel& channel = slot(number).channel;
  const std::int64_t now = now_ns();
  if (!channel.has_data()) {
    touch(number);
    ++sending_;
  }
  channel.push({bytes, std::move(on_arrival), parts}, channel_s(now));
  release(number, now);
  loads_.begin(channel.facts().data, seconds(now));
  if (!is_awake_) wake_at(now);
}

bool FlowNetwork::note_equal_round(EqualRound round) {
  if (!is_alone(round)) return false;
  equal_round_ = std::move(round);
  return true;
}

// Nothing else is under way, nor ever was, and nothing is drawn.
bool FlowNetwork::is_alone(const EqualRound& round) const {
  bool is_alone = !variation_ && !has_signals(tcp_) && slots_.size() == round.transfers;
  for (std::size_t i = 0; is_alone && i < slots_.size(); ++i)
    is_alone = slots_[i].channel.transfers() == 1 && slots_[i].travelling.empty();
  return is_alone;
}

// Acknowledgements are counted by round trips, which may take two rounds: so the state of every other round
// is compared.
void FlowNetwork::follow_equal_round(std::int64_t now_ns) {
  const EqualRound round = *std::exchange(equal_round_, std::nullopt);
  if (!is_alone(round)) return moments_.clear();
  if (!round.is_next) moments_.clear();
  moments_.push_back(present_moment(now_ns));
  if (moments_.size() < 3) return;
  const Moment& before = moments_.front();
  if (round.left > 1 && before.state == moments_.back().state && !simulator_clock().has_actions() &&
      loads_.repeats(before.loads, seconds(now_ns - before.time_ns)))
    skip_rounds(round);
  moments_.pop_front();
}

// The channels' times begin anew with each equal round, and what began is worked on in the order of its
// numbers: rounding is the same in each of them then.
FlowNetwork::Moment FlowNetwork::present_moment(std::int64_t now_ns) {
  Moment present{now_ns, {}, loads_, simulator_clock().events()};
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot_here = slots_[i];
    slot_here.channel.move_origin(channel_s(now_ns));
    for (const std::int64_t time_ns : {slot_here.planned_ns, slot_here.event_ns})
      present.state.push_back(time_ns == InstantQueue::kNever ? -1 : seconds(time_ns - now_ns));
    present.state.push_back(static_cast<double>(slot_here.tail_bytes));
    slot_here.channel.list_state(present.state);
  }
  origin_ns_ = now_ns;
  shares_.list_state(present.state);
  events_.list_state(now_ns, present.state);
  return present;
}

void FlowNetwork::skip_rounds(const EqualRound& round) {
  const Moment& before = moments_.front();
  const Moment& present = moments_.back();
  const int periods = round.left / 2;
  const std::int64_t passed_ns = periods * (present.time_ns - before.time_ns);
  origin_ns_ += passed_ns;
  for (std::size_t i = 0; i < slots_.size(); ++i)
    for (std::int64_t* time_ns : {&slots_[i].planned_ns, &slots_[i].event_ns, &slots_[i].latest_arrival_ns})
      if (*time_ns != InstantQueue::kNever) *time_ns += passed_ns;
  events_.move(passed_ns);
  loads_.repeat(before.loads, periods, seconds(passed_ns));
  simulator_clock().skip_events(as_index(periods) * (present.events - before.events));
  round.skip(2 * periods);
}

void FlowNetwork::touch(int number) {
  char& is_touched = is_touched_[as_index(number - first_slot_)];
  if (is_touched) return;
  is_touched = 1;
  touched_.push_back(number);
}

void FlowNetwork::wake_at(std::int64_t time_ns) {
  if (time_ns >= wake_ns_) return;
  wake_ns_ = time_ns;
  alarm_.set_after_ns(time_ns - now_ns());
}

// Everything of this instant: what is due, what it sets off, and the rates after it.
void FlowNetwork::wake() {
  constexpr std::uint64_t kInstantsPerBeat = 256;
  constexpr int kSlotLines = sizeof(Slot) / 64;
  const std::int64_t now = now_ns();
  if (now != wake_ns_) return;
  is_awake_ = true;
  if (instants_++ % kInstantsPerBeat == 0) beat();
  const auto is_variation_due = [&] { return variation_ && variation_->is_due(now); };
  while (!touched_.empty() || events_.next_ns() <= now || is_variation_due()) {
    while (events_.next_ns() <= now) {
      events_.take(due_);
      for (std::size_t i = 0; i < due_.size(); ++i) {
        constexpr std::size_t kAhead = 4;
        if (i + kAhead < due_.size())
          slots_.prefetch<kSlotLines>(as_index(due_[i + kAhead] / 2 - first_slot_));
        const int event = due_[i];
        event % 2 == 0 ? look_at(event / 2, now) : arrive(event / 2, now);
      }
    }
    if (is_variation_due()) follow_variation(now);
    share_links(now);
  }
  is_awake_ = false;
  wake_ns_ = InstantQueue::kNever;
  if (equal_round_) follow_equal_round(now);
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
  for (int number = first_slot_; number < first_slot_ + static_cast<int>(slots_.size()); ++number) {
    Slot& slot_here = slot(number);
    if (!variation_->concerns(slot_here.origin->facts)) continue;
    if (slot_here.channel.has_data()) {
      slot_here.channel.advance(channel_s(now_ns));
      finish_transfers(number, now_ns);
    }
    slot_here.channel.follow_path(
        variation_->present(slot_here.origin->facts, slot_here.origin->source, slot_here.origin->target));
    if (has_losses()) slot_here.channel.reaction()->set_loss(loss_of(slot_here.origin->facts));
    shares_.set_cap(number, cap(slot_here.channel));
    touch(number);
  }
}

// A change that was put off left its event in the queue: it is moved when it comes up, before ns-3 is asked
// for an event of that instant.
void FlowNetwork::pass_over_moved() {
  while (events_.next_ns() != InstantQueue::kNever) {
    const int event = events_.only_next();
    if (event < 0 || event % 2 != 0) return;
    Slot& slot_here = slot(event / 2);
    const std::int64_t time_ns = events_.next_ns();
    if (slot_here.event_ns == time_ns && slot_here.planned_ns == time_ns) return;
    events_.take(due_);
    if (slot_here.event_ns != time_ns) continue;
    slot_here.event_ns = InstantQueue::kNever;
    set_event(event / 2);
  }
}

void FlowNetwork::look_at(int number, std::int64_t now_ns) {
  Slot& slot_here = slot(number);
  if (slot_here.event_ns != now_ns) return;
  slot_here.event_ns = InstantQueue::kNever;
  if (slot_here.planned_ns == InstantQueue::kNever) return;
  if (slot_here.planned_ns > now_ns) return set_event(number);
  slot_here.channel.advance(channel_s(now_ns));
  finish_transfers(number, now_ns);
  touch(number);
}

void FlowNetwork::arrive(int number, std::int64_t now_ns) {
  Slot& slot_here = slot(number);
  loads_.end(slot_here.channel.facts().data, seconds(now_ns));
  const Arrival arrived = std::move(slot_here.travelling.front());
  slot_here.travelling.pop_front();
  arrived();
}

void FlowNetwork::finish_transfers(int number, std::int64_t now_ns) {
  Slot& slot_here = slot(number);
  const CongestionReaction* const reaction = slot_here.channel.reaction();
  release(number, now_ns);
  while (slot_here.channel.is_first_sent()) {
    FlowChannel::Transmission transfer = slot_here.channel.pop(channel_s(now_ns));
    count(slot_here.channel, transfer.bytes);
    if (!slot_here.channel.has_data()) --sending_;
    if (reaction && reaction->lost() > reaction->repaired())
      held_[number].push_back({std::move(transfer), reaction->lost(), now_ns});
    else
      travel(number, std::move(transfer), now_ns);
  }
}

// What has been sent with all that was lost of it.
void FlowNetwork::travel(int number, FlowChannel::Transmission transfer, std::int64_t now_ns) {
  Slot& slot_here = slot(number);
  const double tail = tail_s(slot_here, transfer.bytes);
  slot_here.latest_arrival_ns = std::max(slot_here.latest_arrival_ns, now_ns + nanoseconds(tail));
  if (transfer.parts) transfer.parts->latency_s += seconds(slot_here.latest_arrival_ns - now_ns);
  slot_here.travelling.push_back(std::move(transfer.on_arrival));
  events_.push(slot_here.latest_arrival_ns, 2 * number + 1);
}

void FlowNetwork::release(int number, std::int64_t now_ns) {
  if (held_.empty()) return;
  const auto found = held_.find(number);
  if (found == held_.end()) return;
  std::deque<Held>& held = found->second;
  for (; !held.empty() && held.front().lost <= slot(number).channel.reaction()->repaired();
       held.pop_front()) {
    Held& first = held.front();
    if (first.transfer.parts) first.transfer.parts->congestion_s += seconds(now_ns - first.sent_ns);
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
  if (equal_round_) std::sort(touched_.begin(), touched_.end());
  const double payload_bytes_per_bit = payload_share(tcp_.segment) / 8;
  for (const int number : touched_) {
    const FlowChannel& channel = slot(number).channel;
    if (channel.is_window_limited()) shares_.set_cap(number, cap(channel));
    channel.has_data() && channel.may_send() ? shares_.start(number) : shares_.stop(number);
  }
  const std::vector<int>& changed = solving_ == Solving::kTouched ? shares_.solve() : shares_.solve_all();
  for (std::size_t i = 0; i < changed.size(); ++i) {
    prefetch(changed, i);
    const int number = changed[i];
    if (number < first_slot_ || is_touched_[as_index(number - first_slot_)]) continue;
    slot(number).channel.advance(channel_s(now_ns));
    release(number, now_ns);
    touch(number);
  }
  due_.swap(touched_);
  touched_.clear();
  for (std::size_t i = 0; i < due_.size(); ++i) {
    prefetch(due_, i);
    const int number = due_[i];
    Slot& slot_here = slot(number);
    is_touched_[as_index(number - first_slot_)] = 0;
    if (slot_here.channel.has_data() && slot_here.channel.may_send())
      slot_here.channel.set_rate(shares_.rate(number) * payload_bytes_per_bit, channel_s(now_ns));
    plan(number, now_ns);
  }
}

void FlowNetwork::plan(int number, std::int64_t now_ns) {
  Slot& slot_here = slot(number);
  const double wait_s = slot_here.channel.wait_s(channel_s(now_ns));
  constexpr double kLongest_s = 4e9;  // a century; in an outage, for ever
  slot_here.planned_ns =
      wait_s < kLongest_s ? now_ns + nanoseconds(std::max(0., wait_s)) : InstantQueue::kNever;
  set_event(number);
}

void FlowNetwork::set_event(int number) {
  Slot& slot_here = slot(number);
  if (slot_here.event_ns <= slot_here.planned_ns) return;
  slot_here.event_ns = slot_here.planned_ns;
  events_.push(slot_here.planned_ns, 2 * number);
}

}  // namespace longhaul
