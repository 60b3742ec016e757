#include "net/linux/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "core/base/index.h"
#include "net/linux/engine_parts.h"

namespace longhaul::linux_tcp {

void Engine::write(int number, std::int64_t bytes, bool is_first, Nanoseconds now,
                   std::function<void()> on_arrival, bool is_answered_by_target) {
  Connection& connection = *connections_[as_index(number)];
  if (cells_[as_index(connection.source_cell)].reached > now)
    throw std::logic_error("a host was to send in its own past");
  Nanoseconds begin = now;
  if (!is_first && rules_.noise.connections_s > 0)
    begin += to_ns(rules_.noise.connections_s * spread_[as_index(connection.source)].uniform());
  if (!connection.pending.empty()) begin = std::max(begin, connection.pending.back().begin);
  const std::int64_t segments = (bytes + rules_.segment - 1) / rules_.segment;
  if (connection.written + segments > kMostSegments) throw RunError(kTooManySegments);
  connection.written += static_cast<std::int32_t>(segments);
  ++open_messages_;
  answered_by_others_ += !is_answered_by_target;
  connection.messages.push_back({connection.written, is_answered_by_target, std::move(on_arrival)});
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
  Sender& sender = *connection.sender;
  if (!connection.is_of_others)
    sender.write(bytes, now);
  else if (bytes > 0)
    sender.write((kMostSegments - sender.next()) * rules_.segment, now);
  else
    sender.drop_unsent();
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
  add_stop(number, {cell.step_stop, number});
}

void Engine::add_stop(int by, const Stop& stop) {
  if (are_shared_)
    cells_[as_index(by)].stops.push_back(stop);
  else
    stops_.push(stop);
}

// While it runs nothing in its cell is due earlier.
void Engine::run_next(std::size_t number) {
  Cell& cell = cells_[number];
  const Event event = cell.heap.take();
  cell.reached = event.time;
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
  ++events_;
  run_next(cell);
  take_news(cells_[cell]);
}

// One event of that very time: what it leads to elsewhere may come before the cell's others.
void Engine::run_stop(Nanoseconds alone) {
  if (crew_ && next_[as_index(stops_.top().cell)] < stops_.top().time) run_ahead(alone);
  const Stop stop = stops_.top();
  stops_.pop();
  const std::size_t cell = as_index(stop.cell);
  std::uint64_t events = 0;
  for (; next_[cell] < stop.time; ++events) run_next(cell);
  events_ += events;
  events_to_stop_ = std::max(events_to_stop_, static_cast<double>(events));
  now_ = stop.time;
  if (next_[cell] == stop.time) {
    ++events_;
    run_next(cell);
    note_behind(cell);
  }
  if (cells_[cell].step_stop <= stop.time) cells_[cell].step_stop = kNever;
  if (next_[cell] == stop.time && cells_[cell].steps == 0) stops_.push({stop.time, stop.cell});
  keep_in_step(stop.cell);
}

void Engine::run_before(Nanoseconds end) {
  sharing_.clear();
  for (std::size_t cell = 0; cell < next_.size(); ++cell)
    if (next_[cell] < end) sharing_.push_back(cell);
  share(end, Until::kEnd, events_to_end_);
  for (Cell& cell : cells_) {
    take_news(cell);
    cell.is_behind = false;
  }
  behind_.clear();
  ahead_ = 0;
}

void Engine::note_behind(std::size_t number) {
  if (!crew_ || std::exchange(cells_[number].is_behind, true)) return;
  behind_.push_back(number);
}

// Nobody else sends before `end`: so all cells may be run up to what completes a message.
void Engine::run_ahead(Nanoseconds end) {
  if (answered_by_others_ > 0 || has_inside_) return;
  sharing_.clear();
  if (end > ahead_) {
    for (std::size_t cell = 0; cell < next_.size(); ++cell)
      if (next_[cell] < end) sharing_.push_back(cell);
  } else {
    for (const std::size_t cell : behind_)
      if (next_[cell] < end) sharing_.push_back(cell);
    std::sort(sharing_.begin(), sharing_.end());
  }
  if (!is_worth_sharing(events_to_stop_)) return;
  for (const std::size_t cell : behind_) cells_[cell].is_behind = false;
  behind_.clear();
  ahead_ = std::max(ahead_, end);
  share(end, Until::kMessage, events_to_stop_);
}

bool Engine::is_worth_sharing(double events_per_cell) const {
  return crew_ && sharing_.size() > 1 &&
         static_cast<double>(sharing_.size()) * events_per_cell >= rules_.least_shared_events;
}

void Engine::share(Nanoseconds end, Until until, double& events_per_cell) {
  if (sharing_.empty()) return;
  std::uint64_t events = 0;
  if (is_worth_sharing(events_per_cell)) {
    are_shared_ = true;
    crew_->run(sharing_.size(), [this, end, until](std::size_t item) {
      cells_[sharing_[item]].events = run_cell(sharing_[item], end, until);
    });
    are_shared_ = false;
    for (const std::size_t number : sharing_) {
      Cell& cell = cells_[number];
      events += cell.events;
      for (const Stop& stop : cell.stops) stops_.push(stop);
      cell.stops.clear();
    }
  } else {
    for (const std::size_t cell : sharing_) events += run_cell(cell, end, until);
  }
  events_ += events;
  events_per_cell = static_cast<double>(events) / static_cast<double>(sharing_.size());
}

std::uint64_t Engine::run_cell(std::size_t number, Nanoseconds end, Until until) {
  std::uint64_t events = 0;
  if (until == Until::kEnd) {
    for (; next_[number] < end; ++events) run_next(number);
    return events;
  }
  EventHeap<Event>& heap = cells_[number].heap;
  for (; next_[number] < end && !may_complete(heap.top()); ++events) run_next(number);
  return events;
}

bool Engine::may_complete(const Event& event) const {
  if (event.source() != Source::kWire) return false;
  const Packet& packet = wires_[as_index(event.number())].packets.front();
  return packet.may_complete && is_at_end(packet);
}

void Engine::take_news(Cell& cell) {
  for (const int number : cell.news) {
    Wire& wire = wires_[as_index(number)];
    const bool was_empty = wire.packets.empty();
    wire.packets.publish();
    if (was_empty) schedule(wire.cell, {wire.packets.front().arrival_ns, Source::kWire, number});
  }
  cell.news.clear();
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

// It arrives not before what is on the wire. Another cell hears of it when none is run.
void Engine::put_on_wire(int number, Packet packet, Nanoseconds arrival) {
  Wire& wire = wires_[as_index(number)];
  packet.arrival_ns = wire.latest = std::max(arrival, wire.latest);
  if (packet.may_complete) add_stop(wire.source_cell, {packet.arrival_ns, wire.cell});
  const bool is_first = wire.packets.push_back(packet);
  if (!wire.is_inside()) {
    if (is_first) cells_[as_index(wire.source_cell)].news.push_back(number);
    return;
  }
  const bool was_empty = wire.packets.empty();
  wire.packets.publish();
  if (was_empty) schedule(wire.cell, {packet.arrival_ns, Source::kWire, number});
}

void Engine::take_from_wire(int number, Nanoseconds now) {
  Wire& wire = wires_[as_index(number)];
  const Packet packet = wire.packets.front();
  wire.packets.pop_front();
  if (!wire.packets.empty()) schedule(wire.cell, {wire.packets.front().arrival_ns, Source::kWire, number});
  if (is_at_end(packet))
    deliver(packet, now);
  else
    forward(packet, now);
}

void Engine::forward(Packet packet, Nanoseconds now) {
  const Hop& next_hop = hop(packet, packet.hop);
  Line& next = *next_hop.line;
  ++packet.hop;
  const bool is_first = packet.hop == 1 && !packet.is_ack;
  if (next.fair) {
    if (is_first) note_departure(next, next_hop.direction, packet.connection, kNever, now);
    const int completing = next.fair->completing();
    next.fair->enter(packet, next_hop.flow, now);
    note_completing(next, completing);
    if (next.fair->free_ns <= now) send_fair(next_hop.direction, now);
    return;
  }
  const Nanoseconds left = next.fifo.enter(packet.bytes(), now);
  if (is_first) note_departure(next, next_hop.direction, packet.connection, left, now);
  if (left != kNever) leave(packet, next_hop, left);
}

// TCP small queues: a connection is told when its data have left the host's own queue, or found no room
// there; at once where the queue is not its host's.
void Engine::note_departure(Line& own, LinkDirection direction, int connection, Nanoseconds left,
                            Nanoseconds now) {
  const bool is_own = left != kNever && !connections_[as_index(connection)]->is_of_others;
  Nanoseconds departure = is_own ? left : now;
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
  queue.free_ns = queue.finish(packet->bytes(), now);
  schedule(own.cell, {queue.free_ns, Source::kFair, direction});
  leave(*packet, hop(*packet, packet->hop - 1), queue.free_ns);
}

void Engine::note_completing(Line& line, int before) {
  const int by = line.fair->completing() - before;
  if (by != 0) change_steps(line.cell, by);
}

void Engine::leave(const Packet& packet, const Hop& hop, Nanoseconds left) {
  Line& used = *hop.line;
  if (hop.is_counted) used.data_bytes += packet.bytes();
  double loss = rules_.loss;
  Nanoseconds delay = used.delay;
  if (schedule_) {
    const LinkSchedule::Stretch& now = schedule_->at(hop.direction, left);
    delay = now.delay;
    loss = 1 - (1 - loss) * (1 - now.loss);
  }
  if (loss > 0 && used.losses.uniform() < loss) {
    ++used.lost;
    return;
  }
  Nanoseconds arrival = left + delay;
  if (used.ends_at_host && rules_.noise.mean_s > 0)
    arrival += noise_quantiles_[used.noise.bits32() % noise_quantiles_.size()];
  put_on_wire(hop.wire, packet, arrival);
}

void Engine::deliver(const Packet& packet, Nanoseconds now) {
  Connection& connection = *connections_[as_index(packet.connection)];
  if (packet.is_ack) {
    ++connection.acks_delivered;
    connection.sender->acknowledged(packet, now);
    set_sender_timer(packet.connection);
    return;
  }
  ++connection.data_delivered;
  connection.receiver->arrived(packet, now);
  set_receiver_timer(packet.connection);
  finish_writes(packet.connection, now);
}

void Engine::finish_writes(int number, Nanoseconds now) {
  Connection& connection = *connections_[as_index(number)];
  while (!connection.messages.empty() && connection.messages.front().end <= connection.receiver->next()) {
    if (now != now_) throw std::logic_error("a message was complete between two stops");
    const std::function<void()> on_arrival = std::move(connection.messages.front().on_arrival);
    const bool is_answered_by_target = connection.messages.front().is_answered_by_target;
    connection.messages.pop_front();
    --open_messages_;
    answered_by_others_ -= !is_answered_by_target;
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
  std::int64_t sent = 0, delivered = 0, elsewhere = 0;
  for (const std::unique_ptr<Connection>& connection : connections_) {
    sent += connection->data_sent + connection->acks_sent;
    delivered += connection->data_delivered + connection->acks_delivered;
  }
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    elsewhere += dropped(static_cast<LinkDirection>(i));
    if (!lines_[i]) continue;
    elsewhere += lines_[i]->lost;
    if (lines_[i]->fair) elsewhere += lines_[i]->fair->size();
  }
  for (const Wire& wire : wires_) elsewhere += static_cast<std::int64_t>(wire.packets.size());
  if (sent != delivered + elsewhere)
    throw std::logic_error(
        fmt::format("{} packets were sent, {} arrived, {} were dropped, lost or are under way", sent,
                    delivered, elsewhere));
}

std::int64_t Engine::carried_bytes(LinkDirection direction) const {
  const std::unique_ptr<Line>& line = lines_[as_index(direction)];
  return line ? line->data_bytes : 0;
}

}  // namespace longhaul::linux_tcp
