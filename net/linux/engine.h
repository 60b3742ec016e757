// Fidelity `linux`: hosts, links and the TCP connections between them, segment by segment, in simulated time.
// No ns-3, no I/O.
//
// Each replica is a cell with a heap of its own: its queues, the wires that end at it, its timers. A
// direction between two routers is a cell too, and nodes without a delay between them are one. A packet to
// another cell waits on a wire of that cell from the moment when it is known to leave, so that no cell learns
// anything of another one sooner than lookahead_ns() later. For so long
//
// 1. what may complete a message happens in the order of time (run_stop()): only its own cell is run up to
//    it, the others lag behind, so that whatever is then written anywhere is in time;
// 2. then each cell is run alone (run_before()), while its state stays in the cache.
//
// Several threads run cells side by side: in 2, and in 1 those of messages whose arrival only their own
// target answers, up to what completes one. Whatever the windows and the threads, the result is the same to
// the last bit as that of step().
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "net/linux/crew.h"
#include "net/linux/link_schedule.h"
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
  bool has_fq = false;  // at each host
  double loss = 0;  // of a packet, on each link
  HostNoise noise;
  SendBuffer buffer;
  std::uint64_t seed = 1;
  int threads = 1;
  double least_shared_events = 500;  // some 100 microseconds: fewer are not worth waking a thread
};

// What is in front of a direction of a link, asked for once it is used.
using QueueMaker = std::function<QueueRules(LinkDirection)>;

class Engine {
 public:
  // `topology` and `schedule` must outlive it. `schedule`: of a network that changes with time, else null.
  Engine(const EngineRules& rules, const Topology& topology, QueueMaker queue_of,
         LinkSchedule* schedule = nullptr);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // A connection from one replica to another, established before the simulation. Its number. `window`: bytes
  // that may be in flight. `congestion_control`: if it is not that of the rules.
  int connect(int source, int target, const ConnectionFacts& facts, std::optional<double> window = {},
              const std::string& congestion_control = {});
  // One of somebody else, whose hosts have no limits of their own and no messages that anybody waits for: it
  // sends without end while it is on. The path of its data and that of its acknowledgements.
  int connect_others(const std::vector<LinkDirection>& data, const std::vector<LinkDirection>& acks,
                     const std::string& congestion_control, std::optional<double> window = {});
  void set_on(int connection, bool is_on, Nanoseconds now);
  // A message of `bytes` > 0; `on_arrival` runs when the target has read all of it. `is_first`: of the
  // connections of a message it begins at once. `is_answered_by_target`: what `on_arrival` writes then is
  // from the message's target. Throws std::logic_error if another host would send in its own past.
  void write(int connection, std::int64_t bytes, bool is_first, Nanoseconds now,
             std::function<void()> on_arrival, bool is_answered_by_target = false);

  // Of the latest message that was complete, or step().
  Nanoseconds now() const { return now_; }
  // Of the next event; kNever if there is none.
  Nanoseconds next_ns() const;
  // From `now` on, no cell hears of another one sooner than this after anything there.
  Nanoseconds lookahead_ns(Nanoseconds now);
  // When a message may be complete next, as far as is known: all of them before next_ns() and the lookahead
  // are, or will be by the stops before them.
  Nanoseconds next_stop() const { return stops_.empty() ? kNever : stops_.top().time; }
  // Runs the cell of the next stop up to it. Before `alone` only answers of targets may be written, and no
  // new way may bring a packet.
  void run_stop(Nanoseconds alone = 0);
  // Up to then other cells may have been run already.
  Nanoseconds ahead_ns() const { return ahead_; }
  // The shortest delay of any link: of ways that are still to be used, too.
  Nanoseconds least_lookahead_ns() const { return least_lookahead_; }
  // Runs the events before `end`, cell by cell; no stop may be before it, and none of these events may be
  // later than lookahead_ns() after the first of them.
  void run_before(Nanoseconds end);
  // Runs the next event: slow, and the reference for the rest.
  void step();

  const Sender& sender(int connection) const;
  std::int64_t dropped(LinkDirection direction) const;
  std::int64_t carried_bytes(LinkDirection direction) const;  // of replicas' data, on the wire
  std::uint64_t events() const { return events_; }
  // That have not arrived, of replicas.
  std::int64_t open_messages() const { return open_messages_; }
  // How many links of all connections' paths: new ones may be shorter.
  std::size_t ways() const { return hops_.size(); }
  // Throws std::logic_error unless every packet that was sent has arrived, was dropped or lost, or is under
  // way. Looks at every link.
  void check_conservation() const;

 private:
  struct Line;
  struct Hop {
    LinkDirection direction = 0;
    Line* line = nullptr;
    int wire = -1;  // behind it
    int flow = 0;   // of a fair queue there
    bool is_counted = false;  // its packets are data of replicas
  };
  struct Route {
    int first = 0, count = 0;  // of hops_
  };
  struct Wire;
  struct Cell;
  struct Connection;
  // A write comes after all else of its instant, whether its cell has lagged behind or not.
  enum class Source : std::uint8_t { kWire, kDeparture, kSender, kReceiver, kFair, kWrite };
  struct Event {
    Nanoseconds time;
    std::uint64_t what;  // its source, then its number: their order at the same time

    Event(Nanoseconds at, Source source, int number)
        : time(at), what(static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint32_t>(number)) {}
    Source source() const { return static_cast<Source>(what >> 32); }
    int number() const { return static_cast<int>(what & 0xffffffff); }
    bool operator<(const Event& other) const {
      return time != other.time ? time < other.time : what < other.what;
    }
  };
  struct Stop {
    Nanoseconds time;
    int cell;
    bool operator>(const Stop& other) const {
      return time != other.time ? time > other.time : cell > other.cell;
    }
  };

  void make_cells();
  Line& line(LinkDirection direction);
  int wire_between(LinkDirection direction, int cell);
  int cell_of(LinkDirection direction);
  int cell_of_replica(int replica) const { return cell_of_group_[as_index(group_[as_index(replica)])]; }
  int add_connection(const std::vector<LinkDirection>& data, const std::vector<LinkDirection>& acks,
                     int source_cell, int target_cell, bool is_of_others);
  double bare_rtt_s(const std::vector<LinkDirection>& data, const std::vector<LinkDirection>& acks) const;
  void add_route(const std::vector<LinkDirection>& path, int last_cell, bool is_counted);
  const Hop& hop(const Packet& packet, int number) const {
    return hops_[as_index(routes_[2 * as_index(packet.connection) + packet.is_ack].first + number)];
  }
  void schedule(int cell, const Event& event);
  void run_next(std::size_t cell);
  // Up to a time, or before that to what may complete a message.
  enum class Until : std::uint8_t { kEnd, kMessage };
  // Runs the cell's events before `end`. How many they were.
  std::uint64_t run_cell(std::size_t cell, Nanoseconds end, Until until);
  bool may_complete(const Event& event) const;
  bool is_at_end(const Packet& packet) const {
    return packet.hop == routes_[2 * as_index(packet.connection) + packet.is_ack].count;
  }
  void run_ahead(Nanoseconds end);
  void note_behind(std::size_t cell);
  bool is_worth_sharing(double events_per_cell) const;
  void share(Nanoseconds end, Until until, double& events_per_cell);
  void take_news(Cell& cell);
  void add_stop(int by, const Stop& stop);
  void run(const Event& event);
  void put_on_wire(int wire, Packet packet, Nanoseconds arrival);
  void take_from_wire(int number, Nanoseconds now);
  void forward(Packet packet, Nanoseconds now);
  void send_fair(LinkDirection direction, Nanoseconds now);
  void note_completing(Line& line, int before);
  void change_steps(int cell, int by);
  void keep_in_step(int cell);
  void deliver(const Packet& packet, Nanoseconds now);
  void leave(const Packet& packet, const Hop& hop, Nanoseconds left);
  void set_sender_timer(int connection);
  void set_receiver_timer(int connection);
  void finish_writes(int connection, Nanoseconds now);
  void begin_write(int connection, Nanoseconds now);
  void note_departure(Line& own, LinkDirection direction, int connection, Nanoseconds left, Nanoseconds now);
  Nanoseconds phase(int host) const;

  EngineRules rules_;
  const Topology& topology_;
  QueueMaker queue_of_;
  LinkSchedule* schedule_;
  // A host's noise, by 1024 equal steps of its probability.
  std::array<std::int32_t, 1024> noise_quantiles_{};
  std::vector<int> group_;                    // by node: of those without a delay between them
  std::vector<int> cell_of_group_;            // −1: of a router by itself
  std::vector<std::unique_ptr<Line>> lines_;  // by direction; null until it is used
  std::deque<Wire> wires_;
  std::map<std::pair<LinkDirection, int>, int> wire_numbers_;
  std::deque<Cell> cells_;  // a message that arrives may lead to a new one
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Route> routes_;  // by connection: of its data, of its acknowledgements
  std::vector<Hop> hops_;
  std::vector<Nanoseconds> next_;  // by cell, of its next event
  std::map<LinkDirection, int> trunk_cells_;
  std::vector<RandomStream> spread_;  // by replica, of the connections of its messages
  std::priority_queue<Stop, std::vector<Stop>, std::greater<>> stops_;
  Nanoseconds lookahead_ = kNever;        // as links are by themselves
  std::vector<LinkDirection> crossings_;  // with a schedule: links between two cells
  Nanoseconds now_ = 0;
  std::uint64_t events_ = 0;
  std::int64_t open_messages_ = 0, answered_by_others_ = 0;  // the latter: of the open ones
  Nanoseconds least_lookahead_ = kNever;
  // Of cells that threads run side by side.
  std::optional<Crew> crew_;
  bool are_shared_ = false;           // just now
  std::vector<std::size_t> sharing_;  // which
  std::vector<std::size_t> behind_;   // which were run to a stop since they were run ahead
  Nanoseconds ahead_ = 0;             // then all of them were, up to what completes a message
  bool has_inside_ = false;           // two replicas are of one cell
  // Of a cell each time, as before: whether it is worth while to wake threads.
  double events_to_stop_ = 1e9, events_to_end_ = 1e9;
};

}  // namespace longhaul::linux_tcp
