#include "replay/network/linux_network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/base/index.h"
#include "net/tcp/fifo.h"
#include "net/tcp/framing.h"

namespace longhaul {
namespace {

using linux_tcp::QueueRules;

linux_tcp::EngineRules engine_rules(const TcpSpec& tcp, std::uint64_t seed, int threads) {
  linux_tcp::EngineRules rules;
  rules.congestion_control = tcp.congestion_control;
  rules.segment = tcp.segment;
  rules.slow_start_after_idle = tcp.slow_start_after_idle;
  rules.has_fq = tcp.qdisc == "fq";
  rules.loss = tcp.loss;
  rules.seed = seed;
  rules.threads = threads;
  return rules;
}

std::unique_ptr<linux_tcp::LinkSchedule> schedule_of(const VariationSpec& spec, const Topology& topology,
                                                     std::uint64_t seed) {
  if (spec.is_empty()) return nullptr;
  return std::make_unique<linux_tcp::LinkSchedule>(std::make_unique<Variation>(spec, topology, seed));
}

// By direction, the longest round trip of those who send over it: a FIFO holds products of it.
std::map<LinkDirection, double> longest_rtts(const TcpSpec& tcp, const Topology& topology,
                                             const std::vector<std::pair<int, int>>& ends) {
  std::map<LinkDirection, double> longest_s;
  if (tcp.queue != "fifo" && tcp.trunk_queue != "fifo") return longest_s;
  for (const auto& [source, target] : ends) {
    const ConnectionFacts facts = connection_facts(topology, tcp, source, target);
    for (const LinkDirection direction : facts.data)
      longest_s[direction] = std::max(longest_s[direction], facts.rtt_s);
  }
  return longest_s;
}

}  // namespace

void LinuxClock::carry(linux_tcp::Engine& engine, std::function<void()> beat) {
  engine_ = &engine;
  beat_ = std::move(beat);
}

void LinuxClock::after_ns(std::int64_t delay_ns, std::function<void()> action) {
  const std::int64_t then_ns = time_after(now_ns_, delay_ns);
  if (engine_ && engine_->ahead_ns() > then_ns)
    throw std::logic_error("an action was to come at a time that hosts have passed");
  agenda_.add(then_ns, std::move(action));
}

void LinuxClock::after_beside(std::int64_t delay_ns, std::function<void()> action) {
  has_others_ = true;
  ++beside_;
  after_ns(delay_ns, [this, then = std::move(action)] {
    --beside_;
    then();
  });
}

void LinuxClock::act() {
  now_ns_ = agenda_.next_ns();
  begin_action();
  agenda_.take_next()();
}

void LinuxClock::beat() {
  constexpr std::uint64_t kEventsPerBeat = 1 << 16;
  if (engine_->events() - beaten_ < kEventsPerBeat || !beat_) return;
  beaten_ = engine_->events();
  beat_();
}

void LinuxClock::run() {
  is_stopped_ = false;
  while (!is_stopped_) {
    if (has_others_ && engine_ && engine_->open_messages() == 0 && agenda_.size() == beside_) return;
    const std::int64_t segment_ns = engine_ ? engine_->next_ns() : linux_tcp::kNever;
    if (agenda_.next_ns() <= segment_ns) {
      if (segment_ns == linux_tcp::kNever && agenda_.next_ns() == Agenda::kNever) return;
      act();
    } else {
      run_window(segment_ns);
    }
  }
}

// For as long as no host learns anything from another one: first, in the order of time, actions and messages
// that may be complete, then all else, host by host.
void LinuxClock::run_window(std::int64_t begin_ns) {
  const auto end_of = [this](std::int64_t from_ns) {
    constexpr std::int64_t kLongest_ns = 1000000000;
    return from_ns + std::min(engine_->lookahead_ns(from_ns), kLongest_ns);
  };
  std::int64_t end_ns = end_of(begin_ns);
  const std::int64_t alone_ns = begin_ns + std::min(engine_->least_lookahead_ns(), end_ns - begin_ns);
  std::size_t ways = engine_->ways();
  while (std::min(agenda_.next_ns(), engine_->next_stop()) < end_ns) {
    if (agenda_.next_ns() <= engine_->next_stop()) {
      act();
    } else {
      now_ns_ = engine_->next_stop();
      engine_->run_stop(std::min(alone_ns, agenda_.next_ns()));
    }
    // Hosts that none had sent to may be nearer.
    if (engine_->ways() != ways) end_ns = std::min(end_ns, end_of(now_ns_));
    ways = engine_->ways();
    if (is_stopped_) {
      if (engine_->ahead_ns() > now_ns_) throw std::logic_error("hosts were run beyond the end");
      end_ns = now_ns_;
      break;
    }
    beat();
  }
  engine_->run_before(end_ns);
  beat();
}

LinuxNetwork::LinuxNetwork(const NetworkSpec& spec, const Topology& topology,
                           const std::vector<std::pair<int, int>>& ends, std::uint64_t seed,
                           LinuxClock& clock, int threads)
    : tcp_(spec.tcp),
      topology_(topology),
      clock_(clock),
      longest_rtt_s_(longest_rtts(tcp_, topology, ends)),
      schedule_(schedule_of(spec.variation, topology, seed)),
      engine_(
          engine_rules(tcp_, seed, threads), topology,
          [this](LinkDirection direction) { return queue_of(direction); }, schedule_.get()),
      open_(2 * as_index(topology.link_count())) {
  clock_.carry(engine_, [this] { beat(); });
  if (spec.variation.background.empty()) return;
  present_ = std::make_unique<Variation>(spec.variation, topology, seed);
  connect_others(spec.variation);
}

// The long-lived connections of others, which begin with the training.
void LinuxNetwork::connect_others(const VariationSpec& spec) {
  const std::vector<Variation::CrossFlow>& flows = present_->cross_flows();
  for (const Variation::CrossFlow& flow : flows) ways_of_others_.insert(flow.data.begin(), flow.data.end());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const std::optional<std::string>& control =
        spec.background[as_index(flows[i].background)].congestion_control;
    Others others{i, {}};
    for (int n = 0; n < std::lround(flows[i].weight); ++n)
      others.connections.push_back(engine_.connect_others(flows[i].data, flows[i].acks,
                                                          control.value_or(tcp_.congestion_control),
                                                          window_of_others(flows[i])));
    others_.push_back(std::move(others));
  }
  if (!others_.empty()) clock_.after_beside(0, [this] { follow_others(); });
}

// Where no queue is ever full: two bandwidth-delay products, as of tuned hosts (net/tcp/connection.h), at
// least 1 MB. Where one is, that decides.
std::optional<double> LinuxNetwork::window_of_others(const Variation::CrossFlow& flow) const {
  constexpr double kLeast = 1e6;
  const bool begins_at_host = topology_.from(flow.data.front()) < topology_.replicas();
  if (tcp_.queue != "host" && !begins_at_host) return {};
  double rtt_s = 0, rate = std::numeric_limits<double>::infinity();
  for (const LinkDirection direction : flow.data) {
    rtt_s += 2 * topology_.link(direction / 2).delay_s;
    rate = std::min(rate, topology_.rate(direction));
  }
  return std::max(kLeast, 2 * rate / 8 * rtt_s);
}

void LinuxNetwork::follow_others() {
  present_->advance_to(clock_.now_ns());
  for (Others& others : others_) {
    const bool are_on = present_->is_on(present_->cross_flows()[others.flow]);
    if (are_on == others.are_on) continue;
    others.are_on = are_on;
    for (const int connection : others.connections) engine_.set_on(connection, are_on, clock_.now_ns());
  }
  const std::int64_t next_ns = present_->next_change_ns();
  if (next_ns != Variation::kNever)
    clock_.after_beside(next_ns - clock_.now_ns(), [this] { follow_others(); });
}

// A host's own queue holds what its connections put there, which TCP small queues keep short; it is fair to
// others that send from there. A router's is as the scenario says.
QueueRules LinuxNetwork::queue_of(LinkDirection direction) const {
  QueueRules queue;
  queue.rate = topology_.rate(direction);
  const int from = topology_.from(direction), to = topology_.to(direction);
  if (from < topology_.replicas() && ways_of_others_.count(direction) == 0) return queue;
  const bool is_trunk = from >= topology_.replicas() && to >= topology_.replicas();
  const bool is_own = from < topology_.replicas();
  if (is_own) {
    queue.is_fair = true;
  } else if (tcp_.queue == "fifo" || (is_trunk && tcp_.trunk_queue == "fifo")) {
    const auto longest = longest_rtt_s_.find(direction);
    queue.limit = fifo_bytes(tcp_, queue.rate, longest == longest_rtt_s_.end() ? 0 : longest->second);
    queue.bytes_beside = kEthernetBytes;
  } else {
    queue.is_fair = true;
    queue.has_codel = tcp_.queue == "fq_codel";
    queue.marks = tcp_.ecn;
  }
  return queue;
}

LinuxNetwork::Peers& LinuxNetwork::peers(int source, int target) {
  const auto [known, is_new] = peers_.insert({{source, target}, {}});
  if (!is_new) return known->second;
  Peers& peers = known->second;
  peers.facts = connection_facts(topology_, tcp_, source, target);
  std::optional<double> window;
  if (tcp_.window || std::isfinite(topology_.connection_cap(source, target)))
    window = peers.facts.window_limit;
  for (int i = 0; i < tcp_.connections; ++i)
    peers.connections.push_back(
        engine_.connect(source, target, peers.facts, window, tcp_.congestion_control_of(source)));
  return peers;
}

void LinuxNetwork::send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts) {
  struct Open {
    int parts = 0;
    std::function<void()> arrived;
  };
  Peers& ends = peers(transfer.source, transfer.target);
  open_.begin(ends.facts.data, clock_.now_s());
  auto open = std::make_shared<Open>();
  open->arrived = [this, &ends, bytes = transfer.bytes, parts, begun_s = clock_.now_s(),
                   arrived = std::move(on_arrival)] {
    open_.end(ends.facts.data, clock_.now_s());
    if (parts) *parts += known_parts(topology_, ends.facts, tcp_, bytes, clock_.now_s() - begun_s);
    arrived();
  };
  const auto count = static_cast<std::int64_t>(ends.connections.size());
  const auto share = [&](std::int64_t i) {
    return (i + 1) * transfer.bytes / count - i * transfer.bytes / count;
  };
  for (std::int64_t i = 0; i < count; ++i) open->parts += share(i) > 0;
  bool is_first = true;
  for (std::int64_t i = 0; i < count; ++i) {
    if (share(i) == 0) continue;  // fewer bytes than connections
    const auto arrived = [open] {
      if (--open->parts == 0) open->arrived();
    };
    engine_.write(ends.connections[as_index(i)], share(i), is_first, clock_.now_ns(), arrived,
                  transfer.is_answered_by_target && transfer.bytes > count);
    is_first = false;
  }
}

std::optional<SegmentCount> LinuxNetwork::segments() const {
  SegmentCount count;
  for (const auto& [ends, peers] : peers_)
    for (const int connection : peers.connections) {
      count.own += engine_.sender(connection).sent();
      count.own_again += engine_.sender(connection).sent_again();
    }
  for (const Others& others : others_)
    for (const int connection : others.connections)
      count.of_others += engine_.sender(connection).sent() + engine_.sender(connection).sent_again();
  return count;
}

const std::vector<LinkLoad>& LinuxNetwork::loads() {
#ifndef NDEBUG
  engine_.check_conservation();
#endif
  loads_ = open_.loads();
  for (std::size_t i = 0; i < loads_.size(); ++i)
    loads_[i].bytes = engine_.carried_bytes(static_cast<LinkDirection>(i));
  return loads_;
}

}  // namespace longhaul
