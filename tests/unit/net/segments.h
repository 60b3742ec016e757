// Worlds of fidelity `linux` (net/linux/engine.h) for tests: hosts, links and messages over them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/linux/engine.h"
#include "net/tcp/connection.h"
#include "net/topology.h"

namespace longhaul::linux_tcp {

// Engines run either event by event, or host by host wherever that is allowed.
enum class Order { kByEvent, kByHost };

// That of the measurements of the kernel: tcp_wmem's default is 65536, and each segment has a buffer of its
// own (gso_max_segs 1). `ss -tm` showed 66120 bytes for 29 segments.
inline SendBuffer measured_buffer() {
  SendBuffer buffer;
  buffer.first = 65536;
  buffer.overhead = 832;
  return buffer;
}

struct World {
  Topology topology;
  std::vector<QueueRules> queues;  // by direction; as many as there are when start() is called
  EngineRules rules;
  std::unique_ptr<LinkSchedule> schedule;  // if links change with time
  std::unique_ptr<Engine> engine;

  explicit World(int hosts) : topology(hosts) { rules.noise = {0, 0, 0}; }

  // Rates in bit/s there and back, delay in seconds one way.
  void join(int first, int second, double forward, double backward, double delay_s) {
    Link link;
    link.name = std::to_string(first) + "-" + std::to_string(second);
    link.first = first;
    link.second = second;
    link.rate_forward = forward;
    link.rate_backward = backward;
    link.delay_s = delay_s;
    const int number = topology.add_link(link);
    for (const LinkDirection direction : {2 * number, 2 * number + 1}) {
      QueueRules queue;
      queue.rate = topology.rate(direction);
      queues.push_back(queue);
    }
  }
  void start() {
    const auto queue_of = [this](LinkDirection direction) {
      return queues[static_cast<std::size_t>(direction)];
    };
    engine = std::make_unique<Engine>(rules, topology, queue_of, schedule.get());
  }
  // `resolution_s`: by which the handshake took longer than the way. `control`: if not that of the rules.
  int connect(int source, int target, double resolution_s = 0, const std::string& control = {}) {
    TcpSpec tcp;
    tcp.congestion_control = "cubic";
    tcp.queue = "host";
    ConnectionFacts facts = connection_facts(topology, tcp, source, target);
    facts.delay_s += resolution_s / 2;
    return engine->connect(source, target, facts, {}, control);
  }

  // Until `open` is 0.
  void run(const int& open, Order order = Order::kByHost) {
    while (open > 0) {
      const Nanoseconds begin = engine->next_ns();
      ASSERT_NE(begin, kNever) << "nothing left to happen";
      if (order == Order::kByEvent)
        engine->step();
      else
        run_window(open, begin);
    }
  }

  void run_window(const int& open, Nanoseconds begin) {
    const auto end_of = [&](Nanoseconds from) {
      constexpr Nanoseconds kLongest = 1000 * kMillisecond;
      return from + std::min(engine->lookahead_ns(from), kLongest);
    };
    Nanoseconds end = end_of(begin);
    const Nanoseconds alone = begin + std::min(engine->least_lookahead_ns(), end - begin);
    while (open > 0 && engine->next_stop() < end) {
      const std::size_t ways = engine->ways();
      engine->run_stop(alone);
      if (engine->ways() != ways) end = std::min(end, end_of(engine->now()));
    }
    engine->run_before(open > 0 ? end : engine->now());
  }
};

}  // namespace longhaul::linux_tcp
