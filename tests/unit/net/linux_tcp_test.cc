// Fidelity `linux`: times by hand on paths whose queues are empty, what a full queue costs, and that the
// order in which hosts are run changes nothing. Beside the kernel: linux_kernel_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/base/random.h"
#include "net/tcp/framing.h"
#include "net/variation/variation.h"
#include "tests/unit/net/segments.h"

namespace longhaul::linux_tcp {

constexpr double kRate = 1e8, kDelay_s = 0.02;  // of each of two links, one way
constexpr double kSegment_s = 1538 * 8 / kRate, kAck_s = 90 * 8 / kRate;

// Two hosts, a router between them.
World two_hosts() {
  World world(2);
  const int router = world.topology.add_router("router");
  world.join(0, router, kRate, kRate, kDelay_s);
  world.join(1, router, kRate, kRate, kDelay_s);
  return world;
}

double seconds_for(World& world, std::int64_t segments) {
  world.start();
  const int connection = world.connect(0, 1);
  int open = 1;
  world.engine->write(connection, segments * 1448, true, 0, [&] { --open; });
  world.run(open);
  return static_cast<double>(world.engine->now()) / 1e9;
}

// A window of ten leaves at once: the last one is behind nine others, then crosses both links.
TEST(LinuxTcp, AWindowTakesItsBytesAndTheWay) {
  World world = two_hosts();
  EXPECT_NEAR(seconds_for(world, 10), 11 * kSegment_s + 2 * kDelay_s, 1e-8);
}

// Each acknowledgement of the first ten, one a segment, lets two more leave: from the first one on the link
// is busy until all twenty have left.
TEST(LinuxTcp, SlowStartDoublesTheWindow) {
  World world = two_hosts();
  const double first_ack_s = 2 * kSegment_s + 2 * kDelay_s + 2 * kAck_s + 2 * kDelay_s;
  EXPECT_NEAR(seconds_for(world, 30), first_ack_s + 21 * kSegment_s + 2 * kDelay_s, 1e-8);
}

// The second message of a connection finds the window of the first one, unless a long silence lies between.
TEST(LinuxTcp, AWindowOutlivesShortSilence) {
  for (const double silence_s : {0.1, 5.}) {
    World world = two_hosts();
    world.start();
    const int connection = world.connect(0, 1);
    int open = 1;
    world.engine->write(connection, 30 * 1448, true, 0, [&] { --open; });
    world.run(open);
    const Nanoseconds begin = world.engine->now() + std::llround(silence_s * 1e9);
    open = 1;
    world.engine->write(connection, 30 * 1448, true, begin, [&] { --open; });
    world.run(open);
    const double took_s = static_cast<double>(world.engine->now() - begin) / 1e9;
    const double first_ack_s = 2 * kSegment_s + 4 * kDelay_s + 2 * kAck_s;
    const double expected_s =
        silence_s < 1 ? 31 * kSegment_s + 2 * kDelay_s : first_ack_s + 21 * kSegment_s + 2 * kDelay_s;
    EXPECT_NEAR(took_s, expected_s, 1e-8) << silence_s;
  }
}

// No more than 29 segments are in a socket of so many bytes, sent or not, and the writer goes on each time
// that ten of them are acknowledged: 20 to 29 travel a round trip, 290 in 10 to 15 of them. A buffer that
// grows with the window is no limit: 10, 20, 40, 80 and 140.
TEST(LinuxTcp, AFullSendBufferIsTheLimit) {
  for (const bool grows : {false, true}) {
    World world(2);
    world.join(0, 1, 1e10, 1e10, 0.05);
    // 29 segments of 1590 bytes are more than 46080, twice ten of 2304, 28 are not.
    world.rules.buffer.overhead = 142;
    if (!grows) world.rules.buffer.most = 46080;
    const double took_s = seconds_for(world, 290);
    if (grows) {
      EXPECT_NEAR(took_s, 0.45, 0.01);
    } else {
      EXPECT_GE(took_s, 0.95);
      EXPECT_LE(took_s, 1.46);
    }
  }
}

struct NoNetwork : SegmentOutput {
  void transmit(std::int32_t, int, Push, bool, Nanoseconds) override {}
};

// As `ss -tm` showed a socket of Linux 6.18 to which 78125 bytes are written at once: 29 segments fill its
// first 65536 bytes; when the first ten are acknowledged its buffer is 92160 bytes, twice the window of 20
// times 2304.
TEST(LinuxTcp, ASendBufferGrowsAsLinuxLetsIt) {
  NoNetwork output;
  SenderRules rules;
  rules.has_small_queues = false;
  rules.buffer = measured_buffer();
  Sender sender(rules, 50 * kMillisecond, output);
  sender.write(78125, 0);
  EXPECT_EQ(sender.buffered(), 29);
  EXPECT_EQ(sender.buffer_bytes(), 65536);
  for (int number = 1; number <= 10; ++number) {
    Packet ack;
    ack.is_ack = true;
    ack.number = number;
    ack.edge = 100;
    sender.acknowledged(ack, 50 * kMillisecond + number * kMicrosecond);
  }
  EXPECT_EQ(sender.window(), 20);
  EXPECT_EQ(sender.buffer_bytes(), 92160);
}

// Four connections share a fair queue evenly: all of them end within a segment of each other, when the link
// has carried everything.
TEST(LinuxTcp, AFairQueueSharesItsLink) {
  World world(5);
  const int router = world.topology.add_router("router");
  for (int host = 0; host < 5; ++host) world.join(host, router, kRate, kRate, 1e-3);
  for (int host = 0; host < 5; ++host) world.queues[static_cast<std::size_t>(2 * host + 1)].is_fair = true;
  world.start();
  int open = 4;
  std::vector<double> ends_s;
  for (int host = 0; host < 4; ++host)
    world.engine->write(world.connect(host, 4), 10 * 1448, true, 0, [&] {
      --open;
      ends_s.push_back(static_cast<double>(world.engine->now()) / 1e9);
    });
  world.run(open);
  EXPECT_NEAR(ends_s.back(), 41 * kSegment_s + 2e-3, 1e-8);
  EXPECT_NEAR(ends_s.front(), ends_s.back() - 3 * kSegment_s, 1e-8);
}

// A router in front of a slow link with room for three segments, and one under way: of a window of ten that
// arrives ten times as fast six or more are lost. Everything arrives all the same, each byte once, and what
// left the sender and was not lost arrived.
TEST(LinuxTcp, WhatAFullQueueDropsIsSentAgain) {
  World world(2);
  const int router = world.topology.add_router("router");
  world.join(0, router, kRate, kRate, kDelay_s);
  world.join(1, router, kRate, kRate / 10, kDelay_s);
  QueueRules& queue = world.queues[3];
  queue.limit = 3 * 1500;
  queue.bytes_beside = kEthernetBytes;
  const double took_s = seconds_for(world, 40);
  const Sender& sender = world.engine->sender(0);
  EXPECT_GE(world.engine->dropped(3), 5);
  EXPECT_EQ(sender.sent(), 40);
  EXPECT_EQ(world.engine->carried_bytes(3), (40 + sender.sent_again() - world.engine->dropped(3)) * 1538);
  EXPECT_GT(took_s, 40 * 10 * kSegment_s + 2 * kDelay_s);
}

// The last segment of a message is lost, and nothing behind it tells: the probe goes out after two round
// trips (RFC 8985, 7.2), a kernel timer that waits for 2 ms more and is late by up to two jiffies of 4 ms.
TEST(LinuxTcp, ATailIsProbedFor) {
  World world(2);
  const int router = world.topology.add_router("router");
  world.join(0, router, kRate, kRate, kDelay_s);
  world.join(1, router, kRate, kRate / 10, kDelay_s);
  QueueRules& queue = world.queues[3];
  queue.limit = 8 * 1500;  // ten arrive while the first one leaves: the tenth finds no room
  queue.bytes_beside = kEthernetBytes;
  const double took_s = seconds_for(world, 10);
  EXPECT_EQ(world.engine->dropped(3), 1);
  EXPECT_EQ(world.engine->sender(0).time_outs(), 0);
  // Of the latest acknowledgement that moved the timer: of the ninth segment, whose round trip counts too.
  const double slow_s = 10 * kSegment_s, ninth_s = kSegment_s + 9 * slow_s + 4 * kDelay_s + 11 * kAck_s;
  const double way_s = kSegment_s + slow_s + 2 * kDelay_s;
  EXPECT_GT(took_s, ninth_s + 2 * 4 * kDelay_s + way_s);
  EXPECT_LT(took_s, ninth_s + 200e-3 + 2 * ninth_s + 4 * 4e-3 + way_s);
}

// Packets of any size that arrive at any time, beside a list of all that were let in: one finds no room
// exactly if those whose sending has not begun leave less than it needs.
TEST(LinuxTcp, AQueueHoldsWhatItsLimitAllows) {
  RandomStream draw(1, Purpose::kGroups);
  QueueRules rules;
  rules.rate = 8e9;  // a byte a nanosecond
  rules.limit = 20000;
  FifoQueue queue(rules, Pace(rules.rate));
  struct In {
    Nanoseconds begin;
    std::int64_t bytes;
  };
  std::vector<In> all;
  Nanoseconds now = 0, free = 0;
  int dropped = 0;
  for (int i = 0; i < 20000; ++i) {
    now += static_cast<Nanoseconds>(draw.below(1500));
    const auto bytes = static_cast<std::int32_t>(40 + draw.below(1500));
    std::int64_t waiting = 0;
    for (std::size_t k = all.size() > 600 ? all.size() - 600 : 0; k < all.size(); ++k)
      if (all[k].begin > now) waiting += all[k].bytes;
    const Nanoseconds begin = std::max(now, free), left = queue.enter(bytes, now);
    const bool has_room = begin <= now || waiting + bytes <= rules.limit;
    ASSERT_EQ(left, has_room ? begin + bytes : kNever) << i;
    dropped += !has_room;
    if (!has_room) continue;
    all.push_back({begin, bytes});
    free = begin + bytes;
  }
  EXPECT_EQ(queue.dropped(), dropped);
  EXPECT_GT(dropped, 100);
}

// A queue whose packets wait 6 ms from 1 s on (RFC 8289, 4): a first signal 100 ms later, the next ones 100
// ms / sqrt(count) apart, none once a packet has waited for less than 5 ms. Packets leave every millisecond.
TEST(LinuxTcp, CodelSignalsAsItsLawSays) {
  PacketCoDel codel;
  std::vector<double> signals_s;
  for (int ms = 900; ms < 1600; ++ms) {
    const Nanoseconds waited = ms < 1000 ? kMillisecond : 6 * kMillisecond;
    if (codel.signals(waited, 15000, ms * kMillisecond)) signals_s.push_back(ms / 1e3);
  }
  double due_s = 1.1;
  // 1.1 s and nine sums of 0.1 s / sqrt(1 … 9) lie before 1.6 s.
  ASSERT_EQ(signals_s.size(), 10u);
  for (std::size_t i = 0; i < signals_s.size(); ++i) {
    EXPECT_NEAR(signals_s[i], due_s, 2e-3) << i;
    due_s += 0.1 / std::sqrt(static_cast<double>(i + 1));
  }
  EXPECT_FALSE(codel.signals(4 * kMillisecond, 15000, 1700 * kMillisecond));
  EXPECT_FALSE(codel.signals(6 * kMillisecond, 15000, 1701 * kMillisecond)) << "late for no interval yet";
}

// A mark cuts the window as a loss does, to 0.7 of it, and nothing is sent again.
TEST(LinuxTcp, AMarkCutsTheWindow) {
  World world(2);
  const int router = world.topology.add_router("router");
  world.join(0, router, 10 * kRate, kRate, kDelay_s);
  world.join(1, router, kRate, kRate / 10, kDelay_s);
  QueueRules& queue = world.queues[3];
  queue.is_fair = queue.has_codel = queue.marks = true;
  const double took_s = seconds_for(world, 4000);
  const Sender& sender = world.engine->sender(0);
  EXPECT_EQ(sender.sent_again(), 0);
  EXPECT_EQ(sender.time_outs(), 0);
  EXPECT_LT(sender.threshold(), kInfiniteThreshold);
  EXPECT_GT(took_s, 4000 * 10 * kSegment_s);
  EXPECT_LT(took_s, 1.3 * 4000 * 10 * kSegment_s) << "0.7 of the window keeps most of the link busy";
}

struct Drawn {
  Nanoseconds end = 0;
  int answers = 0;
  std::vector<std::int64_t> counts;
};

// Messages among three to six hosts of two sites, each answered by its target, or by another host, behind
// FIFOs of a few segments to a product or fair queues, with losses and noise, over links some of which have
// no delay.
Drawn drawn_world(std::uint64_t seed, Order order, int threads = 1) {
  RandomStream draw(seed, Purpose::kGroups);
  const int hosts = 3 + static_cast<int>(draw.below(4));
  World world(hosts);
  const int routers[] = {world.topology.add_router("here"), world.topology.add_router("there"),
                         world.topology.add_router("beyond")};
  const auto rate = [&] { return 1e7 * static_cast<double>(1 + draw.below(20)); };
  const auto delay_s = [&] {
    return draw.below(4) == 0 ? 0 : 1e-3 * static_cast<double>(1 + draw.below(30));
  };
  for (int host = 0; host < hosts; ++host)
    world.join(host, routers[draw.below(3)], rate(), rate(), delay_s());
  world.join(routers[0], routers[1], rate(), rate(), delay_s());
  world.join(routers[1], routers[2], rate(), rate(), delay_s());
  for (std::size_t i = 1; i < world.queues.size(); i += i + 2 < world.queues.size() ? 2 : 1) {
    world.queues[i].is_fair = draw.below(3) == 0;
    world.queues[i].has_codel = draw.below(2) == 0;
    world.queues[i].marks = draw.below(2) == 0;
    world.queues[i].limit = 1500 * (4 + static_cast<std::int64_t>(draw.below(200)));
    world.queues[i].bytes_beside = kEthernetBytes;
  }
  world.rules.noise = {50e-6, 400e-6, 1e-3};
  world.rules.loss = draw.below(2) == 0 ? 0 : 1e-3;
  constexpr const char* kControls[] = {"cubic", "cubic", "reno", "bbr", "bbr"};
  world.rules.congestion_control = kControls[draw.below(5)];
  world.rules.has_fq = draw.below(3) == 0;
  world.rules.seed = seed;
  world.rules.threads = threads;
  world.rules.least_shared_events = 0;
  const bool others_answer = draw.below(3) == 0;
  if (draw.below(2) == 0) {
    VariationSpec spec;
    spec.jitter = {0.3, 0.3, 0.1};
    Fault outage;
    outage.kind = "link";
    outage.link = "*";
    outage.rate = 0;
    outage.times.every_s = 2;
    outage.times.for_s = 0.1;
    spec.faults = {outage};
    world.schedule = std::make_unique<LinkSchedule>(std::make_unique<Variation>(spec, world.topology, seed));
  }
  world.start();
  int open = 0, answers = 0;
  std::vector<int> connections;
  std::function<void(int, int, int)> send = [&](int source, int target, int left) {
    ++open;
    const int connection = world.connect(source, target);
    connections.push_back(connection);
    const auto bytes = 1 + static_cast<std::int64_t>(draw.below(800000));
    const auto answer = [&, source, target, left] {
      --open;
      ++answers;
      if (left == 0) return;
      const int next = (source + 1) % hosts == target ? source : (source + 1) % hosts;
      others_answer ? send(next, target, left - 1) : send(target, next, left - 1);
    };
    // The last one ends the world: nobody may be beyond it.
    world.engine->write(connection, bytes, true, world.engine->now(), answer, !others_answer && left > 0);
  };
  for (int host = 0; host < hosts; ++host) send(host, (host + 1) % hosts, 3);
  world.run(open, order);
  world.engine->check_conservation();
  Drawn drawn{world.engine->now(), answers, {}};
  for (const int connection : connections) {
    const Sender& sender = world.engine->sender(connection);
    drawn.counts.insert(drawn.counts.end(), {sender.sent(), sender.sent_again(), sender.time_outs()});
  }
  for (LinkDirection direction = 0; direction < 2 * hosts + 4; ++direction)
    drawn.counts.push_back(world.engine->carried_bytes(direction));
  EXPECT_EQ(drawn.answers, 4 * hosts) << "each message arrives once";
  return drawn;
}

// Nor does the number of threads.
TEST(LinuxTcp, TheOrderOfHostsChangesNothing) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const Drawn by_event = drawn_world(seed, Order::kByEvent);
    for (const int threads : {1, 2}) {
      const Drawn by_host = drawn_world(seed, Order::kByHost, threads);
      EXPECT_EQ(by_event.end, by_host.end) << seed << ", threads " << threads;
      EXPECT_EQ(by_event.counts, by_host.counts) << seed << ", threads " << threads;
    }
  }
}

}  // namespace longhaul::linux_tcp
