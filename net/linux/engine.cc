#include "net/linux/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <stdexcept>

#include "net/linux/event_heap.h"
#include "net/linux/ring.h"

namespace longhaul::linux_tcp {
namespace {

Nanoseconds to_ns(double seconds) {
  return std::llround(1e9 * seconds);
}

}  // namespace

// Packets between a queue and the next one, or a host, in the order of their arrival.
struct Engine::Wire {
  int cell = 0;
  Ring<Packet> packets;
  Nanoseconds latest = 0;
};

struct Engine::Cell {
  EventHeap<Event> heap;
  // Why it is run in step with the others: messages between two of its own hosts, and packets in its fair
  // queues that may complete one.
  int steps = 0;
  Nanoseconds step_stop = kNever;  // the next stop for that
};

// One direction of a link.
struct Engine::Line {
  struct Departure {
    Nanoseconds time;
    int connection;
  };
  FifoQueue fifo;
  std::optional<FairQueue> fair;
  Nanoseconds delay = 0;
  Ring<Departure> departures;  // of a host's own data
  std::int64_t data_bytes = 0;
  int cell = 0;
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
  int source_cell = 0, target_cell = 0;
  std::optional<Sender> sender;
  std::optional<Receiver> receiver;
  std::deque<Message> messages;  // that the target has not read whole
  std::int32_t written = 0;      // segments of all of them so far
  struct Pending {
    Nanoseconds begin;
    std::int64_t bytes;
  };
  std::deque<Pending> pending;  // writes that their host has not begun
  Nanoseconds sender_event = kNever, receiver_event = kNever;

  Connection(Engine& the_engine, int the_number, int from, int to)
      : engine(the_engine), number(the_number), source(from), target(to) {}

  void transmit(std::int32_t segment, int missing, bool ends_write, bool is_again, Nanoseconds now) override {
    Packet packet;
    packet.connection = number;
    packet.number = segment;
    packet.payload = static_cast<std::uint16_t>(engine.rules_.segment - missing);
    packet.sent_ns = now;
    packet.echo_ns = sender->echo_ns();
    packet.ends_write = ends_write;
    packet.is_again = is_again;
    packet.has_cut = !is_again && sender->take_cut();
    ++engine.sent_;
    engine.forward(packet, now);
  }
  void acknowledge(Packet& ack, Nanoseconds now) override {
    ack.connection = number;
    ack.payload = static_cast<std::uint16_t>(ack.sack_count > 0 ? 4 + 8 * ack.sack_count : 0);
    ++engine.sent_;
    engine.forward(ack, now);
  }
};

Engine::Engine(const EngineRules& rules, const Topology& topology, QueueMaker queue_of)
    : rules_(rules),
      topology_(topology),
      queue_of_(std::move(queue_of)),
      lines_(2 * as_index(topology.link_count())) {
  make_cells();
  for (int replica = 0; replica < topology.replicas(); ++replica)
    spread_.emplace_back(rules.seed, Purpose::kHostNoise, static_cast<std::uint32_t>(replica), 2);
  const auto steps = static_cast<double>(noise_quantiles_.size());
  for (std::size_t i = 0; i < noise_quantiles_.size(); ++i) {
    const double drawn = -std::log1p(-(static_cast<double>(i) + 0.5) / steps) * rules.noise.mean_s;
    noise_quantiles_[i] = static_cast<std::int32_t>(to_ns(std::min(drawn, rules.noise.most_s)));
  }
}

Engine::~Engine() = default;

// Nodes that a link without a delay joins are one group; replicas and such groups have a cell.
void Engine::make_cells() {
  group_.resize(as_index(topology_.nodes()));
  std::iota(group_.begin(), group_.end(), 0);
  const auto root = [&](int node) {
    while (group_[as_index(node)] != node) node = group_[as_index(node)];
    return node;
  };
  cell_of_group_.assign(group_.size(), -1);
  std::vector<bool> has_cell(group_.size());
  for (int replica = 0; replica < topology_.replicas(); ++replica) has_cell[as_index(replica)] = true;
  for (int number = 0; number < topology_.link_count(); ++number) {
    const Link& link = topology_.link(number);
    if (to_ns(link.delay_s) > 0) continue;
    const int kept = std::min(root(link.first), root(link.second));
    group_[as_index(root(link.first))] = group_[as_index(root(link.second))] = kept;
    has_cell[as_index(kept)] = true;
  }
  for (int node = 0; node < topology_.nodes(); ++node) {
    const int group = group_[as_index(node)] = root(node);
    if (!has_cell[as_index(group)] || cell_of_group_[as_index(group)] >= 0) continue;
    cell_of_group_[as_index(group)] = static_cast<int>(cells_.size());
    cells_.emplace_back();
  }
  next_.assign(cells_.size(), kNever);
}

Engine::Line& Engine::line(LinkDirection direction) {
  std::unique_ptr<Line>& line = lines_[as_index(direction)];
  if (line) return *line;
  const QueueRules queue = queue_of_(direction);
  line = std::make_unique<Line>(queue, rules_.seed, direction);
  line->delay = to_ns(topology_.link(direction / 2).delay_s);
  line->ends_at_host = topology_.to(direction) < topology_.replicas();
  line->cell = cell_of(direction);
  if (queue.is_fair) line->fair.emplace(queue);
  return *line;
}

// That of the node that it begins at. A router by itself has none: the queue in front of a replica is the
// replica's, one between two routers has a cell of its own.
int Engine::cell_of(LinkDirection direction) {
  const auto cell_of_node = [&](int node) { return cell_of_group_[as_index(group_[as_index(node)])]; };
  const int from = topology_.from(direction), to = topology_.to(direction);
  if (cell_of_node(from) >= 0) return cell_of_node(from);
  if (to < topology_.replicas()) return cell_of_node(to);
  const auto [known, is_new] = trunk_cells_.insert({direction, static_cast<int>(cells_.size())});
  if (is_new) {
    cells_.emplace_back();
    next_.push_back(kNever);
  }
  return known->second;
}

int Engine::wire_between(LinkDirection direction, int cell) {
  const auto [known, is_new] = wire_numbers_.insert({{direction, cell}, static_cast<int>(wires_.size())});
  if (!is_new) return known->second;
  wires_.emplace_back();
  wires_.back().cell = cell;
  const Line& before = line(direction);
  if (before.cell != cell) lookahead_ = std::min(lookahead_, before.delay);
  return known->second;
}

void Engine::add_route(const std::vector<LinkDirection>& path, int target) {
  routes_.push_back({static_cast<int>(hops_.size()), static_cast<int>(path.size())});
  for (std::size_t i = 0; i < path.size(); ++i) {
    Line& used = line(path[i]);
    const int cell = i + 1 < path.size() ? cell_of(path[i + 1]) : cell_of_replica(target);
    hops_.push_back({path[i], &used, wire_between(path[i], cell)});
  }
}

int Engine::connect(int source, int target, const ConnectionFacts& facts, std::optional<double> window,
                    const std::string& congestion_control) {
  const auto number = static_cast<int>(connections_.size());
  connections_.push_back(std::make_unique<Connection>(*this, number, source, target));
  Connection& connection = *connections_.back();
  connection.source_cell = cell_of_replica(source);
  connection.target_cell = cell_of_replica(target);
  add_route(facts.data, target);
  add_route(facts.acks, source);
  // Of a packet without payload.
  double rtt_s = 2 * facts.delay_s;
  for (const std::vector<LinkDirection>* path : {&facts.data, &facts.acks})
    for (const LinkDirection direction : *path) rtt_s += 8 * kHeaderBytes / topology_.rate(direction);
  SenderRules rules;
  rules.congestion_control = congestion_control.empty() ? rules_.congestion_control : congestion_control;
  rules.segment = rules_.segment;
  rules.slow_start_after_idle = rules_.slow_start_after_idle;
  rules.phase_ns = phase(source);
  rules.has_fq = rules_.has_fq;
  rules.seed = rules_.seed;
  rules.connection = number;
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
  connection.written += static_cast<std::int32_t>((bytes + rules_.segment - 1) / rules_.segment);
  connection.messages.push_back({connection.written, std::move(on_arrival)});
  connection.pending.push_back({begin, bytes});
  if (connection.source_cell == connection.target_cell) change_steps(connection.source_cell, 1);
  if (connection.pending.size() == 1) schedule(connection.source_cell, {begin, Source::kWrite, number});
}

void Engine::begin_write(int number, Nanoseconds now) {
  Connection& connection = *connections_[as_index(number)];
  const std::int64_t bytes = connection.pending.front().bytes;
  connection.pending.pop_front();
  if (!connection.pending.empty())
    schedule(connection.source_cell, {connection.pending.front().begin, Source::kWrite, number});
  connection.sender->write(bytes, now);
  set_sender_timer(number);
}

void Engine::schedule(int number, const Event& event) {
  Cell& cell = cells_[as_index(number)];
  cell.heap.add(event);
  if (event.time >= next_[as_index(number)]) return;
  next_[as_index(number)] = event.time;
  keep_in_step(number);
}

// What keeps a cell in step has begun, or is over.
void Engine::change_steps(int number, int by) {
  cells_[as_index(number)].steps += by;
  keep_in_step(number);
}

void Engine::keep_in_step(int number) {
  Cell& cell = cells_[as_index(number)];
  if (cell.steps == 0 || next_[as_index(number)] >= cell.step_stop) return;
  cell.step_stop = next_[as_index(number)];
  stops_.push({cell.step_stop, number});
}

// While it runs nothing in its cell is due earlier.
void Engine::run_next(std::size_t number) {
  Cell& cell = cells_[number];
  const Event event = cell.heap.take();
  ++events_;
  run(event);
  next_[number] = cell.heap.empty() ? kNever : cell.heap.top().time;
}

Nanoseconds Engine::next_ns() const {
  return next_.empty() ? kNever : *std::min_element(next_.begin(), next_.end());
}

void Engine::step() {
  const std::size_t cell = as_index(std::min_element(next_.begin(), next_.end()) - next_.begin());
  now_ = next_[cell];
  while (!stops_.empty() && stops_.top().time < now_) stops_.pop();
  run_next(cell);
}

// One event of that very time: what it leads to elsewhere may come before the cell's others.
void Engine::run_stop() {
  const Stop stop = stops_.top();
  stops_.pop();
  const std::size_t cell = as_index(stop.cell);
  while (next_[cell] < stop.time) run_next(cell);
  now_ = stop.time;
  if (next_[cell] == stop.time) run_next(cell);
  if (cells_[cell].step_stop <= stop.time) cells_[cell].step_stop = kNever;
  if (next_[cell] == stop.time && cells_[cell].steps == 0) stops_.push({stop.time, stop.cell});
  keep_in_step(stop.cell);
}

void Engine::run_before(Nanoseconds end) {
  for (std::size_t cell = 0; cell < next_.size(); ++cell)
    while (next_[cell] < end) run_next(cell);
}

void Engine::run(const Event& event) {
  const int number = event.number();
  switch (event.source()) {
    case Source::kWire:
      return take_from_wire(number, event.time);
    case Source::kDeparture: {
      Line& own = *lines_[as_index(number)];
      const int connection = own.departures.front().connection;
      own.departures.pop_front();
      if (!own.departures.empty())
        schedule(own.cell, {own.departures.front().time, Source::kDeparture, number});
      connections_[as_index(connection)]->sender->left_queue(event.time);
      return set_sender_timer(connection);
    }
    case Source::kSender: {
      Connection& connection = *connections_[as_index(number)];
      if (connection.sender_event == event.time) connection.sender_event = kNever;
      if (connection.sender->timer_ns() <= event.time) connection.sender->timer_fired(event.time);
      return set_sender_timer(number);
    }
    case Source::kReceiver: {
      Connection& connection = *connections_[as_index(number)];
      if (connection.receiver_event == event.time) connection.receiver_event = kNever;
      if (connection.receiver->timer_ns() <= event.time) connection.receiver->timer_fired(event.time);
      return set_receiver_timer(number);
    }
    case Source::kWrite:
      return begin_write(number, event.time);
    case Source::kFair:
      return send_fair(number, event.time);
  }
}

// A timer that moved back is looked at when its old time comes.
void Engine::set_sender_timer(int number) {
  Connection& connection = *connections_[as_index(number)];
  const Nanoseconds due = connection.sender->timer_ns();
  if (due >= connection.sender_event) return;
  connection.sender_event = due;
  schedule(connection.source_cell, {due, Source::kSender, number});
}

void Engine::set_receiver_timer(int number) {
  Connection& connection = *connections_[as_index(number)];
  const Nanoseconds due = connection.receiver->timer_ns();
  if (due >= connection.receiver_event) return;
  connection.receiver_event = due;
  schedule(connection.target_cell, {due, Source::kReceiver, number});
}

// It arrives not before what is on the wire.
void Engine::put_on_wire(int number, Packet packet, Nanoseconds arrival) {
  Wire& wire = wires_[as_index(number)];
  packet.arrival_ns = wire.latest = std::max(arrival, wire.latest);
  if (packet.may_complete()) stops_.push({packet.arrival_ns, wire.cell});
  wire.packets.push_back(packet);
  if (wire.packets.size() == 1) schedule(wire.cell, {packet.arrival_ns, Source::kWire, number});
}

void Engine::take_from_wire(int number, Nanoseconds now) {
  Wire& wire = wires_[as_index(number)];
  const Packet packet = wire.packets.front();
  wire.packets.pop_front();
  if (!wire.packets.empty()) schedule(wire.cell, {wire.packets.front().arrival_ns, Source::kWire, number});
  if (packet.hop < routes_[2 * as_index(packet.connection) + packet.is_ack].count)
    forward(packet, now);
  else
    deliver(packet, now);
}

void Engine::forward(Packet packet, Nanoseconds now) {
  const Hop& next_hop = hop(packet, packet.hop);
  Line& next = *next_hop.line;
  ++packet.hop;
  if (next.fair) {
    const int completing = next.fair->completing();
    next.fair->enter(packet, 2 * std::int64_t{packet.connection} + packet.is_ack, now);
    note_completing(next, completing);
    if (next.fair->free_ns <= now) send_fair(next_hop.direction, now);
    return;
  }
  const Nanoseconds left = next.fifo.enter(packet.bytes(), now);
  if (packet.hop == 1 && !packet.is_ack)
    note_departure(next, next_hop.direction, packet.connection, left, now);
  if (left != kNever) leave(packet, next_hop, left);
}

// TCP small queues: a connection is told when its data have left the host's own queue, or found no room
// there.
void Engine::note_departure(Line& own, LinkDirection direction, int connection, Nanoseconds left,
                            Nanoseconds now) {
  Nanoseconds departure = left == kNever ? now : left;
  if (!own.departures.empty()) departure = std::max(departure, own.departures.back().time);
  own.departures.push_back({departure, connection});
  if (own.departures.size() == 1) schedule(own.cell, {departure, Source::kDeparture, direction});
}

void Engine::send_fair(LinkDirection direction, Nanoseconds now) {
  Line& own = *lines_[as_index(direction)];
  FairQueue& queue = *own.fair;
  if (queue.free_ns > now) return;
  const int completing = queue.completing();
  const std::optional<Packet> packet = queue.next(now);
  note_completing(own, completing);
  if (!packet) return;
  queue.free_ns = now + queue.sending_ns(packet->bytes());
  schedule(own.cell, {queue.free_ns, Source::kFair, direction});
  leave(*packet, hop(*packet, packet->hop - 1), queue.free_ns);
}

void Engine::note_completing(Line& line, int before) {
  const int by = line.fair->completing() - before;
  if (by != 0) change_steps(line.cell, by);
}

void Engine::leave(const Packet& packet, const Hop& hop, Nanoseconds left) {
  Line& used = *hop.line;
  if (!packet.is_ack) used.data_bytes += packet.bytes();
  if (rules_.loss > 0 && used.losses.uniform() < rules_.loss) {
    ++lost_;
    return;
  }
  Nanoseconds arrival = left + used.delay;
  if (used.ends_at_host && rules_.noise.mean_s > 0)
    arrival += noise_quantiles_[used.noise.bits32() % noise_quantiles_.size()];
  put_on_wire(hop.wire, packet, arrival);
}

void Engine::deliver(const Packet& packet, Nanoseconds now) {
  ++delivered_;
  Connection& connection = *connections_[as_index(packet.connection)];
  if (packet.is_ack) {
    connection.sender->acknowledged(packet, now);
    set_sender_timer(packet.connection);
    return;
  }
  connection.receiver->arrived(packet, now);
  set_receiver_timer(packet.connection);
  finish_writes(packet.connection, now);
}

void Engine::finish_writes(int number, Nanoseconds now) {
  Connection& connection = *connections_[as_index(number)];
  while (!connection.messages.empty() && connection.messages.front().end <= connection.receiver->next()) {
    if (now != now_) throw std::logic_error("a message was complete between two stops");
    const std::function<void()> on_arrival = std::move(connection.messages.front().on_arrival);
    connection.messages.pop_front();
    if (connection.source_cell == connection.target_cell) change_steps(connection.source_cell, -1);
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

void Engine::check_conservation() const {
  std::int64_t elsewhere = lost_;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    elsewhere += dropped(static_cast<LinkDirection>(i));
    if (lines_[i] && lines_[i]->fair) elsewhere += lines_[i]->fair->size();
  }
  for (const Wire& wire : wires_) elsewhere += static_cast<std::int64_t>(wire.packets.size());
  if (sent_ != delivered_ + elsewhere)
    throw std::logic_error(
        fmt::format("{} packets were sent, {} arrived, {} were dropped, lost or are under way", sent_,
                    delivered_, elsewhere));
}

std::int64_t Engine::carried_bytes(LinkDirection direction) const {
  const std::unique_ptr<Line>& line = lines_[as_index(direction)];
  return line ? line->data_bytes : 0;
}

}  // namespace longhaul::linux_tcp
