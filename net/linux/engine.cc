#include "net/linux/engine.h"

#include <algorithm>
#include <cmath>

#include "core/base/index.h"
#include "net/tcp/framing.h"

namespace longhaul::linux_tcp {
namespace {

Nanoseconds to_ns(double seconds) {
  return std::llround(1e9 * seconds);
}

}  // namespace

// Packets between a queue and the next one, or a host, in the order of their arrival.
struct Engine::Wire {
  struct Travelling {
    Nanoseconds arrival;
    Packet packet;
  };
  int cell = 0;
  std::deque<Travelling> packets;
  Nanoseconds latest = 0;
};

struct Engine::Cell {
  std::vector<Event> heap;  // the next one on top
};

// One direction of a link.
struct Engine::Line {
  FifoQueue fifo;
  std::optional<FairQueue> fair;
  Nanoseconds delay = 0;
  std::deque<std::pair<Nanoseconds, int>> departures;  // of a host's own data: when, and of which connection
  std::int64_t data_bytes = 0;
  bool ends_at_host = false;
  RandomStream losses, noise;

  Line(const QueueRules& rules, std::uint64_t seed, LinkDirection direction)
      : fifo(rules),
        losses(seed, Purpose::kLoss, static_cast<std::uint32_t>(direction)),
        noise(seed, Purpose::kHostNoise, static_cast<std::uint32_t>(direction)) {}
};

struct Engine::Connection : SegmentOutput, AckOutput {
  struct Message {
    std::int32_t end;
    std::function<void()> on_arrival;
  };

  Engine& engine;
  int number, source, target;
  std::vector<Hop> data_path, ack_path;
  std::optional<Sender> sender;
  std::optional<Receiver> receiver;
  std::deque<Message> messages;
  struct Pending {
    Nanoseconds begin;
    std::int64_t bytes;
    std::function<void()> on_arrival;
  };
  std::deque<Pending> pending;  // writes that their host has not begun
  Nanoseconds sender_event = kNever, receiver_event = kNever;

  Connection(Engine& the_engine, int the_number, int from, int to)
      : engine(the_engine), number(the_number), source(from), target(to) {}

  void transmit(std::int32_t segment, int missing, bool ends_write, bool is_again, Nanoseconds now) override {
    Packet packet;
    packet.connection = number;
    packet.number = segment;
    packet.bytes = engine.rules_.segment - missing + kHeaderBytes;
    packet.sent_ns = now;
    packet.echo_ns = sender->echo_ns();
    packet.ends_write = ends_write;
    packet.is_again = is_again;
    packet.has_cut = !is_again && sender->take_cut();
    engine.forward(packet, now);
  }
  void acknowledge(Packet& ack, Nanoseconds now) override {
    ack.connection = number;
    ack.bytes = kHeaderBytes + (ack.sack_count > 0 ? 4 + 8 * ack.sack_count : 0);
    engine.forward(ack, now);
  }
};

Engine::Engine(const EngineRules& rules, const Topology& topology, QueueMaker queue_of)
    : rules_(rules),
      topology_(topology),
      queue_of_(std::move(queue_of)),
      lines_(2 * as_index(topology.link_count())),
      cells_(as_index(topology.replicas())),
      next_(cells_.size(), kNever) {
  for (int replica = 0; replica < topology.replicas(); ++replica)
    spread_.emplace_back(rules.seed, Purpose::kHostNoise, static_cast<std::uint32_t>(replica), 2);
}

Engine::~Engine() = default;

Engine::Line& Engine::line(LinkDirection direction) {
  std::unique_ptr<Line>& line = lines_[as_index(direction)];
  if (line) return *line;
  const QueueRules queue = queue_of_(direction);
  line = std::make_unique<Line>(queue, rules_.seed, direction);
  line->delay = to_ns(topology_.link(direction / 2).delay_s);
  line->ends_at_host = topology_.to(direction) < topology_.replicas();
  if (queue.is_fair) line->fair.emplace(queue);
  lookahead_ = std::min(lookahead_, line->delay);
  return *line;
}

// A replica's for what begins or ends there, else its own.
int Engine::cell_of(LinkDirection direction) {
  const int from = topology_.from(direction), to = topology_.to(direction);
  if (from < topology_.replicas()) return from;
  if (to < topology_.replicas()) return to;
  const auto [known, is_new] = trunk_cells_.insert({direction, static_cast<int>(cells_.size())});
  if (is_new) {
    cells_.emplace_back();
    next_.push_back(kNever);
  }
  return known->second;
}

int Engine::wire_between(LinkDirection direction, int cell) {
  const auto [known, is_new] = wire_numbers_.insert({{direction, cell}, static_cast<int>(wires_.size())});
  if (is_new) {
    wires_.emplace_back();
    wires_.back().cell = cell;
  }
  return known->second;
}

std::vector<Engine::Hop> Engine::hops_of(const std::vector<LinkDirection>& path, int target) {
  std::vector<Hop> hops;
  for (std::size_t i = 0; i < path.size(); ++i)
    hops.push_back({path[i], &line(path[i]),
                    wire_between(path[i], i + 1 < path.size() ? cell_of(path[i + 1]) : target)});
  return hops;
}

int Engine::connect(int source, int target, const ConnectionFacts& facts, std::optional<double> window) {
  const auto number = static_cast<int>(connections_.size());
  connections_.push_back(std::make_unique<Connection>(*this, number, source, target));
  Connection& connection = *connections_.back();
  connection.data_path = hops_of(facts.data, target);
  connection.ack_path = hops_of(facts.acks, source);
  // Of a packet without payload.
  double rtt_s = 2 * facts.delay_s;
  for (const std::vector<LinkDirection>* path : {&facts.data, &facts.acks})
    for (const LinkDirection direction : *path) rtt_s += 8 * kHeaderBytes / topology_.rate(direction);
  SenderRules rules;
  rules.congestion_control = rules_.congestion_control;
  rules.segment = rules_.segment;
  rules.slow_start_after_idle = rules_.slow_start_after_idle;
  rules.phase_ns = phase(source);
  if (window) rules.window_limit = std::max(2, static_cast<int>(*window / rules_.segment));
  rules.has_small_queues = std::isfinite(topology_.rate(facts.data.front()));
  connection.sender.emplace(rules, to_ns(rtt_s), connection);
  constexpr std::int64_t kReceiveBuffer = std::int64_t{1} << 30;
  connection.receiver.emplace(rules_.segment, to_ns(rtt_s), phase(target), kReceiveBuffer, connection);
  return number;
}

// When the jiffies of a host change.
Nanoseconds Engine::phase(int replica) const {
  RandomStream stream(rules_.seed, Purpose::kHostNoise, static_cast<std::uint32_t>(replica), 1);
  return static_cast<Nanoseconds>(stream.below(static_cast<std::uint64_t>(kJiffy)));
}

void Engine::write(int number, std::int64_t bytes, bool is_first, Nanoseconds now,
                   std::function<void()> on_arrival) {
  Connection& connection = *connections_[as_index(number)];
  Nanoseconds begin = now;
  if (!is_first && rules_.noise.connections_s > 0)
    begin += to_ns(rules_.noise.connections_s * spread_[as_index(connection.source)].uniform());
  if (!connection.pending.empty()) begin = std::max(begin, connection.pending.back().begin);
  connection.pending.push_back({begin, bytes, std::move(on_arrival)});
  if (connection.pending.size() == 1) schedule(connection.source, {begin, Source::kWrite, number});
}

void Engine::begin_write(int number, Nanoseconds now) {
  Connection& connection = *connections_[as_index(number)];
  Connection::Pending one = std::move(connection.pending.front());
  connection.pending.pop_front();
  if (!connection.pending.empty())
    schedule(connection.source, {connection.pending.front().begin, Source::kWrite, number});
  const auto count = static_cast<std::int32_t>((one.bytes + rules_.segment - 1) / rules_.segment);
  const std::int32_t before =
      connection.messages.empty() ? connection.receiver->next() : connection.messages.back().end;
  connection.messages.push_back({before + count, std::move(one.on_arrival)});
  connection.sender->write(one.bytes, now);
  set_sender_timer(number);
}

void Engine::schedule(int cell, const Event& event) {
  std::vector<Event>& heap = cells_[as_index(cell)].heap;
  heap.push_back(event);
  std::push_heap(heap.begin(), heap.end(), IsLater());
  next_[as_index(cell)] = heap.front().time;
}

Engine::Event Engine::take_event(std::size_t cell) {
  std::vector<Event>& heap = cells_[cell].heap;
  const Event event = heap.front();
  std::pop_heap(heap.begin(), heap.end(), IsLater());
  heap.pop_back();
  next_[cell] = heap.empty() ? kNever : heap.front().time;
  ++events_;
  return event;
}

Nanoseconds Engine::next_ns() const {
  return next_.empty() ? kNever : *std::min_element(next_.begin(), next_.end());
}

void Engine::step() {
  const auto cell = static_cast<std::size_t>(std::min_element(next_.begin(), next_.end()) - next_.begin());
  const Event event = take_event(cell);
  now_ = event.time;
  while (!critical_.empty() && critical_.top() < now_) critical_.pop();
  run(event, static_cast<int>(cell));
}

void Engine::run_before(Nanoseconds end) {
  for (std::size_t cell = 0; cell < next_.size(); ++cell)
    while (next_[cell] < end) {
      const Event event = take_event(cell);
      now_ = event.time;
      run(event, static_cast<int>(cell));
    }
  while (!critical_.empty() && critical_.top() < end) critical_.pop();
}

void Engine::run(const Event& event, int cell) {
  switch (event.source) {
    case Source::kWire:
      return take_from_wire(event.number, event.time);
    case Source::kDeparture: {
      Line& own = *lines_[as_index(event.number)];
      const int number = own.departures.front().second;
      own.departures.pop_front();
      if (!own.departures.empty())
        schedule(cell, {own.departures.front().first, Source::kDeparture, event.number});
      connections_[as_index(number)]->sender->left_queue(event.time);
      return set_sender_timer(number);
    }
    case Source::kSender: {
      Connection& connection = *connections_[as_index(event.number)];
      if (connection.sender_event == event.time) connection.sender_event = kNever;
      if (connection.sender->timer_ns() <= event.time) connection.sender->timer_fired(event.time);
      return set_sender_timer(event.number);
    }
    case Source::kReceiver: {
      Connection& connection = *connections_[as_index(event.number)];
      if (connection.receiver_event == event.time) connection.receiver_event = kNever;
      if (connection.receiver->timer_ns() <= event.time) connection.receiver->timer_fired(event.time);
      return set_receiver_timer(event.number);
    }
    case Source::kWrite:
      return begin_write(event.number, event.time);
    case Source::kFair:
      return send_fair(event.number, event.time);
  }
}

// A timer that moved back is looked at when its old time comes.
void Engine::set_sender_timer(int number) {
  Connection& connection = *connections_[as_index(number)];
  const Nanoseconds due = connection.sender->timer_ns();
  if (due >= connection.sender_event) return;
  connection.sender_event = due;
  schedule(connection.source, {due, Source::kSender, number});
}

void Engine::set_receiver_timer(int number) {
  Connection& connection = *connections_[as_index(number)];
  const Nanoseconds due = connection.receiver->timer_ns();
  if (due >= connection.receiver_event) return;
  connection.receiver_event = due;
  schedule(connection.target, {due, Source::kReceiver, number});
}

Nanoseconds Engine::put_on_wire(int number, const Packet& packet, Nanoseconds arrival) {
  Wire& wire = wires_[as_index(number)];
  arrival = wire.latest = std::max(arrival, wire.latest);
  wire.packets.push_back({arrival, packet});
  if (wire.packets.size() == 1) schedule(wire.cell, {arrival, Source::kWire, number});
  return arrival;
}

void Engine::take_from_wire(int number, Nanoseconds now) {
  Wire& wire = wires_[as_index(number)];
  const Packet packet = wire.packets.front().packet;
  wire.packets.pop_front();
  if (!wire.packets.empty()) schedule(wire.cell, {wire.packets.front().arrival, Source::kWire, number});
  const Connection& connection = *connections_[as_index(packet.connection)];
  const std::vector<Hop>& path = packet.is_ack ? connection.ack_path : connection.data_path;
  if (packet.hop < path.size())
    forward(packet, now);
  else
    deliver(packet, now);
}

void Engine::forward(Packet packet, Nanoseconds now) {
  const Connection& connection = *connections_[as_index(packet.connection)];
  const Hop hop = (packet.is_ack ? connection.ack_path : connection.data_path)[packet.hop];
  Line& next = *hop.line;
  ++packet.hop;
  if (next.fair) {
    next.fair->enter(packet, 2 * std::int64_t{packet.connection} + packet.is_ack, now);
    if (next.fair->free_ns <= now) send_fair(hop.direction, now);
    return;
  }
  const Nanoseconds left = next.fifo.enter(packet.bytes, now);
  if (packet.hop == 1 && !packet.is_ack) note_departure(next, hop.direction, packet.connection, left, now);
  if (left != kNever) leave(packet, hop, left);
}

// TCP small queues: a connection is told when its data have left the host's own queue, or found no room
// there.
void Engine::note_departure(Line& own, LinkDirection direction, int connection, Nanoseconds left,
                            Nanoseconds now) {
  Nanoseconds departure = left == kNever ? now : left;
  if (!own.departures.empty()) departure = std::max(departure, own.departures.back().first);
  own.departures.push_back({departure, connection});
  if (own.departures.size() == 1)
    schedule(topology_.from(direction), {departure, Source::kDeparture, direction});
}

void Engine::send_fair(LinkDirection direction, Nanoseconds now) {
  FairQueue& queue = *lines_[as_index(direction)]->fair;
  if (queue.free_ns > now) return;
  const std::optional<Packet> packet = queue.next(now);
  if (!packet) return;
  const Connection& connection = *connections_[as_index(packet->connection)];
  const Hop& hop = (packet->is_ack ? connection.ack_path : connection.data_path)[packet->hop - 1u];
  queue.free_ns = now + queue.sending_ns(packet->bytes);
  schedule(cell_of(direction), {queue.free_ns, Source::kFair, direction});
  leave(*packet, hop, queue.free_ns);
}

void Engine::leave(const Packet& packet, const Hop& hop, Nanoseconds left) {
  Line& used = *hop.line;
  if (!packet.is_ack) used.data_bytes += packet.bytes;
  if (rules_.loss > 0 && used.losses.uniform() < rules_.loss) return;
  Nanoseconds arrival = left + used.delay;
  if (used.ends_at_host) arrival += noise(used);
  arrival = put_on_wire(hop.wire, packet, arrival);
  if (used.ends_at_host && (packet.ends_write || packet.is_again)) critical_.push(arrival);
}

Nanoseconds Engine::noise(Line& line) {
  if (rules_.noise.mean_s <= 0) return 0;
  const double drawn = -std::log1p(-line.noise.uniform()) * rules_.noise.mean_s;
  return to_ns(std::min(drawn, rules_.noise.most_s));
}

void Engine::deliver(const Packet& packet, Nanoseconds now) {
  Connection& connection = *connections_[as_index(packet.connection)];
  if (packet.is_ack) {
    connection.sender->acknowledged(packet, now);
    set_sender_timer(packet.connection);
    return;
  }
  connection.receiver->arrived(packet, now);
  set_receiver_timer(packet.connection);
  finish_writes(packet.connection);
}

void Engine::finish_writes(int number) {
  Connection& connection = *connections_[as_index(number)];
  while (!connection.messages.empty() && connection.messages.front().end <= connection.receiver->next()) {
    const std::function<void()> on_arrival = std::move(connection.messages.front().on_arrival);
    connection.messages.pop_front();
    on_arrival();
  }
}

const Sender& Engine::sender(int number) const {
  return *connections_[as_index(number)]->sender;
}

std::int64_t Engine::dropped(LinkDirection direction) const {
  const std::unique_ptr<Line>& line = lines_[as_index(direction)];
  return line ? line->fifo.dropped() + (line->fair ? line->fair->dropped() : 0) : 0;
}

std::int64_t Engine::carried_bytes(LinkDirection direction) const {
  const std::unique_ptr<Line>& line = lines_[as_index(direction)];
  return line ? line->data_bytes : 0;
}

}  // namespace longhaul::linux_tcp
