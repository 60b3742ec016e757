// BBR and pacing in fidelity `linux`: rates and times by hand. Beside the kernel: linux_kernel_test.cc.
#include <gtest/gtest.h>

#include <cmath>

#include "net/linux/bbr.h"
#include "net/linux/pacer.h"
#include "net/linux/running_max.h"
#include "tests/unit/net/segments.h"

namespace longhaul::linux_tcp::bbr_test {

constexpr double kRate = 1e8, kDelay_s = 0.01;  // of each of two links, one way
constexpr double kSegment_s = 1538 * 8 / kRate;
constexpr double kRtt_s = 4 * kDelay_s;

const Bbr& bbr_of(const World& world, int connection) {
  return dynamic_cast<const Bbr&>(world.engine->sender(connection).control());
}

// Two hosts behind a router; the way to the second is `share` as fast as that from the first, behind a fair
// queue.
World two_hosts(const std::string& control, double share = 1) {
  World world(2);
  const int router = world.topology.add_router("router");
  world.join(0, router, kRate, kRate, kDelay_s);
  world.join(1, router, kRate, share * kRate, kDelay_s);
  world.queues[3].is_fair = share < 1;
  world.rules.congestion_control = control;
  world.start();
  return world;
}

double seconds_for(World& world, int connection, std::int64_t segments, Nanoseconds begin) {
  int open = 1;
  world.engine->write(connection, segments * 1448, true, begin, [&] { --open; });
  world.run(open);
  return static_cast<double>(world.engine->now() - begin) / 1e9;
}

// The largest of a window of ten rounds is forgotten with it; the best of those behind it follows.
TEST(LinuxBbr, TheLargestOfTenRounds) {
  RunningMax largest(10);
  largest.add(0, 100);
  for (std::uint32_t round = 1; round <= 10; ++round) largest.add(round, 50 + (round == 4 ? 20 : 0));
  EXPECT_EQ(largest.get(), 100u);
  largest.add(11, 50);
  EXPECT_EQ(largest.get(), 70u) << "of round 4";
  largest.add(12, 80);
  EXPECT_EQ(largest.get(), 80u);
}

// At 1 MB/s a segment of 1000 bytes takes a millisecond. Nine leave at once and the tenth begins to count.
// One that is 0.3 ms late is made up for, one that is 2 ms late by half of a millisecond.
TEST(LinuxBbr, APacerSpacesSegmentsAndMakesUpForLateOnes) {
  Pacer pacer;
  const auto take = [&](int count, Nanoseconds now) { return pacer.take(1000, 1e6, count, now); };
  for (int count = 0; count < 9; ++count) EXPECT_EQ(take(count, 0), 0) << count;
  EXPECT_EQ(take(9, 0), 0);
  EXPECT_EQ(pacer.next_ns(), kMillisecond);
  EXPECT_EQ(take(10, kMillisecond + 300 * kMicrosecond), kMillisecond + 300 * kMicrosecond);
  EXPECT_EQ(pacer.next_ns(), 2 * kMillisecond);
  EXPECT_EQ(take(11, 4 * kMillisecond), 4 * kMillisecond);
  EXPECT_EQ(pacer.next_ns(), 4 * kMillisecond + kMillisecond / 2);
  EXPECT_EQ(take(12, 0), 4 * kMillisecond + kMillisecond / 2) << "fq: stamped with the time to come";
}

// Ten segments sent in 9 ms, acknowledged one a millisecond from 40 ms on: the last one's sample is ten
// segments in the 49 ms from the first one's departure. Then two segments whose acknowledgements come
// together: the 20 ms between their departures count, not the shorter time between acknowledgements.
TEST(LinuxBbr, ADeliveryRateIsOfTheLongerPhase) {
  DeliveryRate rate;
  std::vector<DeliveryRate::Stamp> stamps;
  for (int i = 0; i < 10; ++i) stamps.push_back(rate.sent(i * kMillisecond, i == 0));
  RateSample sample;
  for (int i = 0; i < 10; ++i) {
    rate.begin();
    rate.covers(stamps[static_cast<std::size_t>(i)], i * kMillisecond, i);
    sample = rate.sample(1, 40 * kMillisecond, (40 + i) * kMillisecond);
  }
  EXPECT_EQ(sample.delivered, 10);
  EXPECT_EQ(sample.interval, 49 * kMillisecond);
  EXPECT_FALSE(sample.is_app_limited);

  // The application pauses; what leaves then says so until it is delivered.
  rate.limit(0);
  DeliveryRate::Stamp late = rate.sent(100 * kMillisecond, true);
  DeliveryRate::Stamp later = rate.sent(160 * kMillisecond, false);
  rate.begin();
  rate.covers(late, 100 * kMillisecond, 10);
  rate.covers(later, 160 * kMillisecond, 11);
  sample = rate.sample(2, 40 * kMillisecond, 200 * kMillisecond);
  EXPECT_EQ(sample.delivered, 2);
  EXPECT_EQ(sample.interval, 100 * kMillisecond);
  EXPECT_TRUE(sample.is_app_limited);
  EXPECT_FALSE(rate.is_app_limited());
  rate.begin();
  rate.covers(later, 160 * kMillisecond, 11);
  EXPECT_EQ(rate.sample(0, 40 * kMillisecond, 210 * kMillisecond).delivered, -1) << "counted once";
}

// Before anything is known it paces ten segments a round trip of the handshake, times 2.89, less a per cent:
// the second ten of twenty segments are that far apart, but the first of them, which makes up for half.
TEST(LinuxBbr, TheFirstPaceIsTheInitialWindows) {
  World world = two_hosts("bbr");
  const int connection = world.connect(0, 1);
  const double handshake_s = kRtt_s + 4 * 90 * 8 / kRate, gap_s = handshake_s / (10 * 0.99 * 739 / 256);
  EXPECT_NEAR(world.engine->sender(connection).pacing_rate(), 1448 / gap_s, 1448 / gap_s * 1e-4);
  const double took_s = seconds_for(world, connection, 20, 0);
  const double first_ack_s = kRtt_s + 2 * kSegment_s + 2 * 90 * 8 / kRate;
  EXPECT_NEAR(took_s, first_ack_s + 8.5 * gap_s + 2 * kSegment_s + 2 * kDelay_s, 1e-4);
}

// A long transfer: start-up, then the whole bandwidth of the path but what probing loses, and never more in
// flight than twice the product and room for bursts. CUBIC at the same queue takes no less.
TEST(LinuxBbr, ALongTransferTakesTheBandwidthOfThePath) {
  for (const double share : {1., 0.1}) {
    World world = two_hosts("bbr", share);
    const int connection = world.connect(0, 1);
    const auto segments = static_cast<std::int64_t>(share * 5 / kSegment_s);
    const double took_s = seconds_for(world, connection, segments, 0);
    const double sending_s = static_cast<double>(segments) * kSegment_s / share;
    EXPECT_GT(took_s, sending_s);
    EXPECT_LT(took_s, 1.02 * sending_s + 10 * kRtt_s) << share;
    EXPECT_EQ(world.engine->sender(connection).sent_again(), 0);
    EXPECT_EQ(bbr_of(world, connection).mode(), Bbr::Mode::kProbeBandwidth);
    const double product = share * kRate * kRtt_s / 8 / 1538;
    EXPECT_GE(world.engine->sender(connection).window(), 2 * product);
    EXPECT_LE(world.engine->sender(connection).window(), 2.5 * product + 40);
  }
}

// It looks for the round trip every ten seconds: of two transfers of one length, that over the tenth second
// takes longer by 200 ms (up to two jiffies more) and less than three round trips.
TEST(LinuxBbr, AProbeOfTheRoundTripCostsAFifthOfASecond) {
  World world = two_hosts("bbr", 0.2);
  const int connection = world.connect(0, 1);
  const auto four_s = static_cast<std::int64_t>(0.2 * 4 / kSegment_s);
  double begin_s = seconds_for(world, connection, four_s, 0);
  std::vector<double> took_s;
  for (int i = 0; i < 3; ++i) {
    took_s.push_back(seconds_for(world, connection, four_s, std::llround(1e9 * begin_s)));
    begin_s += took_s.back();
  }
  EXPECT_NEAR(took_s[0], 4, 0.06) << "4 to 8 s";
  EXPECT_GT(took_s[1], took_s[0] + 0.2 - kRtt_s);
  EXPECT_LT(took_s[1], took_s[0] + 0.208 + 3 * kRtt_s) << "8 to 12 s";
  EXPECT_NEAR(took_s[2], took_s[0], 0.06) << "12 to 16 s";
}

// After a pause it continues at the bandwidth that it knows, whatever the pause: CUBIC begins again.
TEST(LinuxBbr, AWindowOutlivesSilence) {
  for (const char* control : {"bbr", "cubic"}) {
    World world = two_hosts(control);
    const int connection = world.connect(0, 1);
    const double first_s = seconds_for(world, connection, 8000, 0);
    const double took_s = seconds_for(world, connection, 300, std::llround(1e9 * (first_s + 3)));
    const double sending_s = 301 * kSegment_s + 2 * kDelay_s;
    if (control == std::string("bbr"))
      EXPECT_NEAR(took_s, sending_s, 0.03 * sending_s);
    else
      EXPECT_GT(took_s, sending_s + kRtt_s);
  }
}

// Losses do not make it slower: with one packet in a hundred lost on each of two links CUBIC keeps a fifth of
// the link or less, BBR most of it.
TEST(LinuxBbr, LossesDoNotSlowItDown) {
  double took_s[2];
  for (int i = 0; i < 2; ++i) {
    World world(2);
    const int router = world.topology.add_router("router");
    world.join(0, router, kRate, kRate, kDelay_s);
    world.join(1, router, kRate, kRate, kDelay_s);
    world.rules.congestion_control = i == 0 ? "bbr" : "cubic";
    world.rules.loss = 0.01;
    world.start();
    const int connection = world.connect(0, 1);
    took_s[i] = seconds_for(world, connection, 20000, 0);
    EXPECT_GT(world.engine->sender(connection).sent_again(), 300);
  }
  EXPECT_LT(took_s[0], 1.5 * 20000 * kSegment_s);
  EXPECT_GT(took_s[1], 4 * 20000 * kSegment_s);
}

// Two of one round trip at a fair queue: both have sent the same bytes when the first one is done, to a few
// per cent.
TEST(LinuxBbr, TwoShareALink) {
  World world(3);
  const int router = world.topology.add_router("router");
  for (int host = 0; host < 3; ++host) world.join(host, router, kRate, kRate, kDelay_s);
  for (int host = 0; host < 3; ++host) world.queues[static_cast<std::size_t>(2 * host + 1)].is_fair = true;
  world.rules.congestion_control = "bbr";
  world.start();
  std::vector<double> ends_s;
  int open = 2;
  constexpr std::int64_t kSegments = 20000;
  for (int host = 0; host < 2; ++host)
    world.engine->write(world.connect(host, 2), kSegments * 1448, true, 0, [&] {
      --open;
      ends_s.push_back(static_cast<double>(world.engine->now()) / 1e9);
    });
  world.run(open);
  const double sending_s = 2 * kSegments * kSegment_s;
  EXPECT_NEAR(ends_s.back(), sending_s, 0.05 * sending_s);
  EXPECT_NEAR(ends_s.front(), ends_s.back(), 0.05 * sending_s);
}

// With fq CUBIC's second window, of 20, is spread over half a round trip: twice the window a round trip. Of
// pfifo_fast's it leaves at the rate of the link.
TEST(LinuxBbr, FqPacesCubic) {
  double took_s[2];
  for (int i = 0; i < 2; ++i) {
    World world(2);
    const int router = world.topology.add_router("router");
    world.join(0, router, kRate, kRate, kDelay_s);
    world.join(1, router, kRate, kRate, kDelay_s);
    world.rules.has_fq = i == 1;
    world.start();
    took_s[i] = seconds_for(world, world.connect(0, 1), 30, 0);
  }
  const double first_ack_s = kRtt_s + 2 * kSegment_s + 2 * 90 * 8 / kRate;
  EXPECT_NEAR(took_s[0], first_ack_s + 21 * kSegment_s + 2 * kDelay_s, 1e-4);
  // Of 20 segments 19 gaps, at a window that grows from 11 to 20.
  EXPECT_GT(took_s[1], first_ack_s + 18 * kRtt_s / 40 + 2 * kDelay_s);
  EXPECT_LT(took_s[1], first_ack_s + 19 * kRtt_s / 22 + 2 * kDelay_s + 2 * kSegment_s);
}

// One connection may have another congestion control than the rest.
TEST(LinuxBbr, AConnectionMayHaveItsOwnControl) {
  World world = two_hosts("cubic");
  TcpSpec tcp;
  tcp.congestion_control = "cubic";
  tcp.queue = "host";
  const ConnectionFacts facts = connection_facts(world.topology, tcp, 0, 1);
  EXPECT_FALSE(world.engine->sender(world.engine->connect(0, 1, facts)).control().has_control());
  EXPECT_TRUE(world.engine->sender(world.engine->connect(0, 1, facts, {}, "bbr")).control().has_control());
}

}  // namespace longhaul::linux_tcp::bbr_test
