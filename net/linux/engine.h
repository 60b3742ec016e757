// Fidelity `linux`: hosts, links and the TCP connections between them, segment by segment, in simulated time.
// No ns-3, no I/O. One thread.
//
// Each replica is a cell with a heap of its own: its queues, the wires that end at it, its timers. A
// direction between two routers is a cell too. A packet to another cell waits on a wire of that cell from the
// moment when it is known to leave. So a cell may be run alone for as long as the shortest way between two
// cells: its state stays in the cache. Whatever the windows, the result is the same to the last bit.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "net/linux/packet.h"
#include "net/linux/queue.h"
#include "net/linux/receiver.h"
#include "net/linux/sender.h"
#include "net/tcp/connection.h"
#include "net/topology.h"

namespace longhaul::linux_tcp {

// What differs from one host to the next, and from one run to the next.
struct HostNoise {
  // A packet waits for its host: exponential with this mean, at most so long.
  double mean_s = 50e-6, most_s = 400e-6;
  // Connections of a message but the first begin within this time, uniform.
  double connections_s = 1e-3;
};

struct EngineRules {
  std::string congestion_control = "cubic";
  int segment = 1448;
  bool slow_start_after_idle = true;
  double loss = 0;  // of a packet, on each link
  HostNoise noise;
  std::uint64_t seed = 1;
};

// What is in front of a direction of a link, asked for once it is used.
using QueueMaker = std::function<QueueRules(LinkDirection)>;

class Engine {
 public:
  // `topology` must outlive it.
  Engine(const EngineRules& rules, const Topology& topology, QueueMaker queue_of);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // A connection from one replica to another, established before the simulation. Its number. `window`: bytes
  // that may be in flight.
  int connect(int source, int target, const ConnectionFacts& facts, std::optional<double> window = {});
  // A message of `bytes` > 0; `on_arrival` runs when the target has read all of it. `is_first`: of the
  // connections of a message it begins at once.
  void write(int connection, std::int64_t bytes, bool is_first, Nanoseconds now,
             std::function<void()> on_arrival);

  Nanoseconds now() const { return now_; }
  // Of the next event; kNever if there is none.
  Nanoseconds next_ns() const;
  // Runs the next event.
  void step();
  // Before this time, and within lookahead_ns(), no message can be complete: events before it may be run host
  // by host.
  Nanoseconds quiet_until() const { return critical_.empty() ? kNever : critical_.top(); }
  // The shortest way from one cell to another.
  Nanoseconds lookahead_ns() const { return lookahead_; }
  // Runs the events before `end`, which is at most quiet_until() and next_ns() + lookahead_ns(). The result
  // is the same as that of as many step().
  void run_before(Nanoseconds end);

  const Sender& sender(int connection) const;
  std::int64_t dropped(LinkDirection direction) const;
  std::int64_t carried_bytes(LinkDirection direction) const;  // of data, on the wire
  std::uint64_t events() const { return events_; }

 private:
  struct Line;
  struct Hop {
    LinkDirection direction = 0;
    Line* line = nullptr;
    int wire = -1;  // behind it
  };
  struct Wire;
  struct Cell;
  struct Connection;
  enum class Source : std::uint8_t { kWire, kDeparture, kSender, kReceiver, kWrite, kFair };
  struct Event {
    Nanoseconds time;
    Source source;
    int number;
  };
  struct IsLater {
    bool operator()(const Event& a, const Event& b) const {
      if (a.time != b.time) return a.time > b.time;
      return a.source != b.source ? a.source > b.source : a.number > b.number;
    }
  };

  Line& line(LinkDirection direction);
  int wire_between(LinkDirection direction, int cell);
  int cell_of(LinkDirection direction);
  std::vector<Hop> hops_of(const std::vector<LinkDirection>& path, int target);
  void schedule(int cell, const Event& event);
  void run(const Event& event, int cell);
  // When it arrives: not before what is on the wire.
  Nanoseconds put_on_wire(int wire, const Packet& packet, Nanoseconds arrival);
  Event take_event(std::size_t cell);
  void take_from_wire(int number, Nanoseconds now);
  void forward(Packet packet, Nanoseconds now);
  void send_fair(LinkDirection direction, Nanoseconds now);
  void deliver(const Packet& packet, Nanoseconds now);
  void leave(const Packet& packet, const Hop& hop, Nanoseconds left);
  void set_sender_timer(int connection);
  void set_receiver_timer(int connection);
  void finish_writes(int connection);
  void begin_write(int connection, Nanoseconds now);
  void note_departure(Line& own, LinkDirection direction, int connection, Nanoseconds left, Nanoseconds now);
  Nanoseconds noise(Line& line);
  Nanoseconds phase(int replica) const;

  EngineRules rules_;
  const Topology& topology_;
  QueueMaker queue_of_;
  std::vector<std::unique_ptr<Line>> lines_;  // by direction; null until it is used
  std::vector<Wire> wires_;
  std::map<std::pair<LinkDirection, int>, int> wire_numbers_;
  std::vector<Cell> cells_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Nanoseconds> next_;  // by cell, of its next event
  std::map<LinkDirection, int> trunk_cells_;
  std::vector<RandomStream> spread_;  // by replica, of the connections of its messages
  // Arrivals that may complete a message: of the last segment of a write, and of repairs.
  std::priority_queue<Nanoseconds, std::vector<Nanoseconds>, std::greater<>> critical_;
  Nanoseconds lookahead_ = kNever;
  Nanoseconds now_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace longhaul::linux_tcp
