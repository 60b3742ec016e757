// What an Engine consists of: cells, the wires between them, the directions of links, connections. Included
// by its two sources alone.
#pragma once

#include <cmath>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/errors.h"
#include "net/linux/engine.h"
#include "net/linux/event_heap.h"
#include "net/linux/packet_queue.h"
#include "net/linux/ring.h"

namespace longhaul::linux_tcp {

inline Nanoseconds to_ns(double seconds) {
  return std::llround(1e9 * seconds);
}

// Packets between a queue and the next one, or a host, in the order of their arrival. Between two cells the
// one adds while the other takes.
struct alignas(64) Engine::Wire {
  int cell = 0;
  PacketQueue packets;
  // Of the cell that adds.
  int source_cell = 0;
  Nanoseconds latest = 0;

  Wire(int from, int to) : cell(to), source_cell(from) {}
  bool is_inside() const { return source_cell == cell; }
};

struct alignas(64) Engine::Cell {
  EventHeap<Event> heap;
  Nanoseconds reached = 0;   // its latest event
  std::uint64_t events = 0;  // when it was run side by side with others
  bool is_behind = false;
  // What the others are told when none is run: its wires to them with new packets, and stops.
  std::vector<int> news;
  std::vector<Stop> stops;
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
  std::int64_t data_bytes = 0, lost = 0;
  int cell = 0, flows = 0;
  bool ends_at_host = false, is_crossing = false;
  RandomStream losses, noise;

  Line(const QueueRules& rules, const Pace& pace, std::uint64_t seed, LinkDirection direction)
      : fifo(rules, pace),
        losses(seed, Purpose::kLoss, static_cast<std::uint32_t>(direction)),
        noise(seed, Purpose::kHostNoise, static_cast<std::uint32_t>(direction)) {}
};

struct Engine::Connection : SegmentOutput, AckOutput {
  struct Message {
    std::int32_t end;
    bool is_answered_by_target;
    std::function<void()> on_arrival;
  };

  Engine& engine;
  int number;
  int source = -1;  // the replica
  int source_cell = 0, target_cell = 0;
  bool is_of_others = false;
  std::int32_t written = 0;  // segments of all messages so far
  struct Pending {
    Nanoseconds begin;
    std::int64_t bytes;  // of others: whether they go on
  };
  // Of the source's cell.
  std::deque<Pending> pending;  // writes that their host has not begun
  std::optional<Sender> sender;
  Nanoseconds sender_event = kNever;
  std::int64_t data_sent = 0, acks_delivered = 0;  // packets
  // Of the target's cell.
  alignas(64) std::deque<Message> messages;  // that the target has not read whole
  std::optional<Receiver> receiver;
  Nanoseconds receiver_event = kNever;
  std::int64_t acks_sent = 0, data_delivered = 0;

  Connection(Engine& the_engine, int the_number) : engine(the_engine), number(the_number) {}

  void transmit(std::int32_t segment, int missing, Push push, bool is_again, Nanoseconds now) override {
    if (segment + 1 == kMostSegments && is_of_others) throw RunError(kTooManySegments);
    Packet packet;
    packet.connection = number;
    packet.number = segment;
    packet.payload = static_cast<std::uint16_t>(engine.rules_.segment - missing);
    packet.sent_ns = now;
    packet.echo_ns = sender->echo_ns();
    packet.ends_write = push != Push::kNone;
    packet.is_again = is_again;
    packet.may_complete = (push == Push::kMessage || is_again) && !is_of_others;
    packet.has_cut = !is_again && sender->take_cut();
    ++data_sent;
    engine.forward(packet, now);
  }
  void acknowledge(Packet& ack, Nanoseconds now) override {
    ack.connection = number;
    ack.payload = static_cast<std::uint16_t>(ack.sack_count > 0 ? 4 + 8 * ack.sack_count : 0);
    ++acks_sent;
    engine.forward(ack, now);
  }
};

}  // namespace longhaul::linux_tcp
