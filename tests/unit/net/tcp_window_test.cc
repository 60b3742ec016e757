// TCP's window; queues; and random loss: where it falls, what it leaves on average, and when a sender reacts
// to it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "net/tcp/congestion.h"
#include "net/tcp/connection.h"
#include "net/tcp/fifo.h"
#include "net/tcp/window.h"
#include "net/topology.h"

namespace longhaul::tcp_window_test {

constexpr double kSegment = 1448;

TcpWindow window_of(double limit = 1e9, bool is_cubic = true) {
  return TcpWindow({kSegment, limit, /*rtt_s=*/0.1, is_cubic});
}

constexpr double kFast = 1e9;  // bytes a second: acknowledgements never hold the window back

// All of it was in flight.
void acknowledge(TcpWindow& window, double rate = kFast) {
  window.acknowledged(window.bytes(), window.bytes(), rate);
}

TEST(TcpWindow, DoublesEveryRoundTripThatUsesItUpToItsLimit) {
  TcpWindow window = window_of(), limited = window_of(50000);
  for (double expected = 10 * kSegment; expected < 1e6; expected *= 2) {
    EXPECT_DOUBLE_EQ(window.bytes(), expected);
    EXPECT_DOUBLE_EQ(limited.bytes(), std::min(expected, 50000.));
    acknowledge(window);
    acknowledge(limited);
  }
}

// 4000 bytes in flight under a window of 14,480: less than half of it.
TEST(TcpWindow, DoesNotGrowUnused) {
  TcpWindow window = window_of();
  window.acknowledged(4000, 4000, kFast);
  EXPECT_DOUBLE_EQ(window.bytes(), 14480);
  window.acknowledged(10000, 10000, kFast);
  EXPECT_DOUBLE_EQ(window.bytes(), 20000) << "to twice of what was in flight";
}

// The pipe holds 20 segments, the window 20: one more round trip of acknowledgements makes it 40, and HyStart
// ends slow start there. From then on it grows by 5 % a round trip at first. Reno has no HyStart.
TEST(TcpWindow, CubicLeavesSlowStartWhenThePipeIsFull) {
  TcpWindow window = window_of(), reno = window_of(1e9, /*is_cubic=*/false);
  acknowledge(window);
  window.filled_pipe(1e6, 20 * kSegment);
  EXPECT_DOUBLE_EQ(window.bytes(), 40 * kSegment);
  EXPECT_FALSE(window.in_slow_start());
  acknowledge(window);
  EXPECT_DOUBLE_EQ(window.bytes(), 1.05 * 40 * kSegment);
  reno.filled_pipe(1e6, 20 * kSegment);
  EXPECT_TRUE(reno.in_slow_start());
}

// RTT 0.1 s: time-out 0.3 s. 0.29 s change nothing; 3 s are 10 time-outs, 2^-10 of 80 segments is below the
// initial window, and so is 2^-9.5. The threshold stays at 80 segments: slow start up to there and no
// further. Not with net.ipv4.tcp_slow_start_after_idle = 0.
TEST(TcpWindow, IsColdAgainAfterIdling) {
  EXPECT_DOUBLE_EQ(window_kept_after_idle(0.59, 0.1), 0.5) << "one whole time-out";
  EXPECT_DOUBLE_EQ(window_kept_after_idle(0.61, 0.1), 0.25);
  EXPECT_DOUBLE_EQ(window_kept_after_idle(0.29, 0.1), 1);
  EXPECT_DOUBLE_EQ(smooth_window_kept_after_idle(0.45, 0.1), 0.5) << "after one and a half";
  EXPECT_DOUBLE_EQ(smooth_window_kept_after_idle(0.6, 0.1), std::exp2(-1.5));
  EXPECT_DOUBLE_EQ(smooth_window_kept_after_idle(0.29, 0.1), 1);
  TcpWindow window = window_of();
  acknowledge(window);
  acknowledge(window);
  window.filled_pipe(1e6, 40 * kSegment);
  window.idled(0.29);
  EXPECT_DOUBLE_EQ(window.bytes(), 80 * kSegment);
  window.idled(3);
  EXPECT_DOUBLE_EQ(window.bytes(), 10 * kSegment);
  for (const double expected : {20., 40., 80.}) {
    EXPECT_TRUE(window.in_slow_start());
    acknowledge(window);
    EXPECT_DOUBLE_EQ(window.bytes(), expected * kSegment);
  }
  EXPECT_FALSE(window.in_slow_start());
  WindowRules rules{kSegment, 1e9, 0.1, true};
  rules.slow_start_after_idle = false;
  TcpWindow outlives(rules);
  acknowledge(outlives);
  EXPECT_FALSE(outlives.idled(3));
  EXPECT_DOUBLE_EQ(outlives.bytes(), 20 * kSegment);
}

// 216 segments a round trip of 0.1 s. Linux leaves slow start in the round of 160, the first whose
// acknowledgements come for longer than half a round trip: after 108 of them, with 268. After one and a half
// time-outs half of that is left, which doubles up to the 268 it left with. Acknowledgements more than 2 ms
// apart are no train, nor has ns-3 that rule.
TEST(TcpWindow, LinuxLeavesSlowStartAfterHalfARoundTripOfAcknowledgements) {
  const auto after = [](bool is_linux, bool is_cubic, double segments_a_round) {
    const double rate = segments_a_round * kSegment / 0.1;
    TcpWindow window({kSegment, 1e9, 0.1, is_cubic, false, 1e12, true, is_linux});
    while (window.in_slow_start() && window.bytes() < 320 * kSegment) acknowledge(window, rate);
    const double left_with = window.bytes();
    EXPECT_TRUE(window.idled(0.45));
    EXPECT_DOUBLE_EQ(window.bytes(), left_with / 2);
    acknowledge(window, rate);
    EXPECT_DOUBLE_EQ(window.bytes(), left_with);
    return left_with / kSegment;
  };
  EXPECT_DOUBLE_EQ(after(true, true, 216), 160 + 108);
  EXPECT_DOUBLE_EQ(after(true, true, 400), 320) << "200 have not come by then";
  EXPECT_DOUBLE_EQ(after(true, true, 99), 320) << "2.02 ms between acknowledgements of two segments";
  EXPECT_DOUBLE_EQ(after(true, true, 101), 80 + 50.5);
  EXPECT_DOUBLE_EQ(after(true, false, 216), 320) << "Reno has no HyStart";
  EXPECT_DOUBLE_EQ(after(false, true, 216), 320);
}

// The shortest round trip takes 100 ms: one of 112.5 is not late, one of 112.6 ends slow start when eight
// acknowledgements of two segments have told so, with 40 + 16. An eighth is 4 ms at least and 16 ms at most.
// A window below 16 segments is not looked at, nor does ns-3 look.
TEST(TcpWindow, LinuxLeavesSlowStartWhereRoundTripsBecomeLonger) {
  const auto after = [](bool is_linux, double least_s, double late_s, int doublings) {
    TcpWindow window({kSegment, 1e9, least_s, true, false, 1e12, true, is_linux});
    for (int round = 0; round < doublings; ++round) {
      window.timed(least_s);
      acknowledge(window);
    }
    window.timed(late_s);
    acknowledge(window);
    return window.bytes() / kSegment;
  };
  EXPECT_DOUBLE_EQ(after(true, 0.1, 0.1125, 2), 80);
  EXPECT_DOUBLE_EQ(after(true, 0.1, 0.1126, 2), 56);
  EXPECT_DOUBLE_EQ(after(true, 0.01, 0.0139, 2), 80);
  EXPECT_DOUBLE_EQ(after(true, 0.01, 0.0141, 2), 56);
  EXPECT_DOUBLE_EQ(after(true, 0.3, 0.3159, 2), 80);
  EXPECT_DOUBLE_EQ(after(true, 0.3, 0.3161, 2), 56);
  EXPECT_DOUBLE_EQ(after(true, 0.1, 0.2, 0), 20);
  EXPECT_DOUBLE_EQ(after(false, 0.1, 0.2, 2), 80);
}

// A window of 160 covers a pipe of as many: 80 acknowledgements end slow start, with 240. Fewer do not, and
// where half of the window is not used it does not grow.
TEST(TcpWindow, LinuxLeavesSlowStartInAFullPipe) {
  for (const auto& [sent, expected, is_left] :
       {std::tuple(1000, 240, true), {81, 240, true}, {79, 239, false}, {70, 160, false}}) {
    TcpWindow window({kSegment, 1e9, 0.1, true, false, 1e12, true, /*has_linux_windows=*/true});
    for (int round = 0; round < 4; ++round) acknowledge(window);
    window.filled_pipe(sent * kSegment, 160 * kSegment);
    EXPECT_DOUBLE_EQ(window.bytes(), expected * kSegment) << sent;
    EXPECT_EQ(window.in_slow_start(), !is_left) << sent;
  }
}

// Followed at every moment: a pipe of 400 segments a round trip ends slow start when half of it has been
// acknowledged, 0.05 s after the window of 20 covers it; with ns-3's windows all of it, 0.1 s. Having left it
// once Linux does not look again: after a pause the window of 10 grows up to the 220 it left with.
TEST(TcpWindow, LinuxLeavesSlowStartWhereItsWindowIsFollowed) {
  constexpr double kRate = 4000 * kSegment, kPipeOf400 = 400 * kSegment;
  for (const bool is_linux : {true, false}) {
    TcpWindow window({kSegment, 1e9, 0.1, true, false, 1e12, true, is_linux});
    acknowledge(window);
    const double until_s = is_linux ? 0.05 : 0.1;
    EXPECT_NEAR(window.time_to(1000 * kSegment, kRate, kPipeOf400, 0), until_s, 1e-12);
    window.flowed(until_s, kRate, kPipeOf400, kRate * until_s);
    EXPECT_FALSE(window.in_slow_start());
    EXPECT_NEAR(window.bytes(), (20 + 4000 * until_s) * kSegment, 1e-6);
    if (!is_linux) continue;
    window.idled(3);
    EXPECT_NEAR(window.time_to(1000 * kSegment, kRate, kPipeOf400, 0), 210 / 4000., 1e-12);
  }
}

// 10 segments of slow start and 90 acknowledged.
TcpWindow window_of_100(bool is_cubic = true) {
  TcpWindow window = window_of(1e9, is_cubic);
  window.acknowledged(90 * kSegment, 100 * kSegment, kFast);
  return window;
}

constexpr double kPipe = 1e8;

// RFC 8312, 4.1: W_max 100, W = 70, K = cbrt(30 / 0.4) = 4.217 s after the round trip of the repair. At K the
// window is W_max, at 2 K it is 130 by symmetry, at K / 2 it is 100 − 30 / 8.
TEST(TcpWindow, FollowsTheCubicAfterASignal) {
  TcpWindow window = window_of_100();
  window.congested();
  EXPECT_DOUBLE_EQ(window.bytes(), 70 * kSegment);
  EXPECT_FALSE(window.in_slow_start());
  const double k_s = std::cbrt(75.);
  window.flowed(0.1, kFast, kPipe, 0);
  EXPECT_DOUBLE_EQ(window.bytes(), 70 * kSegment) << "nothing grows while the loss is repaired";
  EXPECT_NEAR(window.time_to(100 * kSegment, kFast, kPipe, 0), k_s, 1e-9);
  window.flowed(k_s / 2, kFast, kPipe, 0);
  EXPECT_NEAR(window.bytes(), 96.25 * kSegment, 1e-3);
  window.flowed(k_s / 2, kFast, kPipe, 0);
  EXPECT_NEAR(window.bytes(), 100 * kSegment, 1e-3);
  EXPECT_NEAR(window.time_to(130 * kSegment, kFast, kPipe, 0), k_s, 1e-9);
  window.flowed(k_s, kFast, kPipe, 0);
  EXPECT_NEAR(window.bytes(), 130 * kSegment, 1e-3);
  // 4.6: a second signal at 70, below W_max: W_max = 70 · 0.85 = 59.5, W = 49, K = cbrt(10.5 / 0.4).
  TcpWindow converges = window_of_100();
  converges.congested();
  converges.congested();
  EXPECT_DOUBLE_EQ(converges.bytes(), 49 * kSegment);
  converges.flowed(0.1, kFast, kPipe, 0);
  EXPECT_NEAR(converges.time_to(59.5 * kSegment, kFast, kPipe, 0), std::cbrt(26.25), 1e-9);
}

// A signal at W_max every time: the mean of W over a cycle is W_max (1 − (1 − β) / 4) = 92.5.
TEST(TcpWindow, HasTheMeanOfAHandWorkedSawtooth) {
  TcpWindow window = window_of_100();
  constexpr int kSteps = 2000;
  for (int cycle = 0; cycle < 3; ++cycle) {
    window.congested();
    window.flowed(0.1, kFast, kPipe, 0);
    const double step_s = std::cbrt(75.) / kSteps;
    double sum = 0;
    for (int i = 0; i < kSteps; ++i) {
      window.flowed(step_s, kFast, kPipe, 0);
      sum += window.bytes() / kSegment;
    }
    EXPECT_NEAR(sum / kSteps, 92.5, 0.05);
    EXPECT_NEAR(window.bytes(), 100 * kSegment, 1);
  }
}

// Half, and a segment a round trip after the one of the repair.
TEST(TcpWindow, RenoHalves) {
  TcpWindow window = window_of_100(/*is_cubic=*/false);
  window.congested();
  EXPECT_DOUBLE_EQ(window.bytes(), 50 * kSegment);
  acknowledge(window);
  EXPECT_DOUBLE_EQ(window.bytes(), 50 * kSegment);
  window.passed(0.1);
  acknowledge(window);
  EXPECT_DOUBLE_EQ(window.bytes(), 51 * kSegment);
}

// After a signal, 100 → 70, then 3 s without data: 2^-9.5 of it, at least 10. The reduction has not ended, so
// the first acknowledgement brings the window to the threshold.
TEST(TcpWindow, StartsFromOneSegmentAfterATimeOutAndFromTenAfterIdling) {
  TcpWindow window = window_of_100(), idle = window_of_100();
  window.timed_out();
  EXPECT_DOUBLE_EQ(window.bytes(), kSegment);
  for (const double expected : {2., 4., 8., 16., 32., 64., 70.}) {
    acknowledge(window);
    EXPECT_DOUBLE_EQ(window.bytes(), expected * kSegment);
  }
  idle.congested();
  idle.idled(3);
  idle.hold_reduction();
  EXPECT_DOUBLE_EQ(idle.bytes(), 10 * kSegment);
  idle.acknowledged(2 * kSegment, 10 * kSegment, kFast);
  EXPECT_DOUBLE_EQ(idle.bytes(), 70 * kSegment);
}

// Two segments in 2 ms, on a link that takes no time for the one of the other direction: 1.448 MB/s.
TEST(TcpWindow, HyStartNeedsCloseAcknowledgements) {
  for (const bool is_close : {true, false}) {
    TcpWindow window({kSegment, 1e9, 0.1, true, false, 1e12});
    const double rate = is_close ? 1.5e6 : 1.4e6, pipe = 0.1 * rate;
    window.flowed(0.1, rate, pipe, pipe);
    EXPECT_EQ(window.in_slow_start(), !is_close);
  }
}

// 100 Mb/s and 50 ms: 625,000 bytes.
TEST(Fifo, HoldsAsManyBandwidthDelayProductsAsAsked) {
  TcpSpec tcp;
  EXPECT_EQ(fifo_bytes(tcp, 1e8, 0.05), 625000);
  tcp.queue_products = 0.25;
  EXPECT_EQ(fifo_bytes(tcp, 1e8, 0.05), 156250);
  EXPECT_EQ(fifo_bytes(tcp, 1e6, 0.001), 20 * 1538) << "at least 20 packets";
  tcp.queue_bytes = 5000;
  EXPECT_EQ(fifo_bytes(tcp, 1e8, 0.05), 5000);
  EXPECT_EQ(fifo_bytes(tcp, kUnlimited, 0.05), 5000);
  tcp.queue_bytes.reset();
  EXPECT_GE(fifo_bytes(tcp, kUnlimited, 0.05), 1000000000);
}

// An interval after the level was passed, then interval · x with x(1) = 1 and one Newton step for 1 / sqrt(n)
// a signal, x(n) = x(n − 1) (3 − n x(n − 1)²) / 2: 0.5, 0.5625, 0.48779.
TEST(CoDel, SignalsMoreAndMoreOften) {
  CoDel codel(true);
  EXPECT_DOUBLE_EQ(codel.watched_level(1e6), 5000) << "5 ms";
  EXPECT_FALSE(codel.drops());
  EXPECT_TRUE(CoDel(false).drops());
  EXPECT_EQ(codel.next_s(0), kNoSignal);
  codel.above(2);
  codel.above(2.05);
  double expected = 2.1;
  EXPECT_DOUBLE_EQ(codel.next_s(0), expected);
  for (const double gap : {0.1, 0.05, 0.05625, 0.0487793}) {
    EXPECT_NEAR(codel.next_s(expected + 1e-9), expected + gap, 1e-7);
    expected = codel.next_s(expected + 1e-9);
  }
}

// It is silent once the queue is short; then the interval begins again. Four signals, then short, then long
// again: it goes on with 4 − 1 = 3, x = 0.48779 (3 − 3 · 0.48779²) / 2 = 0.55759. After 16 intervals of a
// short queue it has forgotten.
TEST(CoDel, GoesOnWhereItLeftOffIfThatWasRecently) {
  CoDel silent(true);
  silent.above(0);
  silent.below();
  EXPECT_EQ(silent.next_s(0), kNoSignal);
  silent.above(0.2);
  EXPECT_DOUBLE_EQ(silent.next_s(0), 0.3);
  for (const bool is_recent : {true, false}) {
    CoDel codel(true);
    codel.above(0);
    codel.next_s(0.31);  // signals at 0.1, 0.2, 0.25, 0.306
    codel.below();
    const double again = is_recent ? 0.4 : 3;
    codel.above(again);
    EXPECT_DOUBLE_EQ(codel.next_s(0), again + 0.1);
    EXPECT_NEAR(codel.next_s(again + 0.1001), again + 0.1 + (is_recent ? 0.055759 : 0.1), 1e-6);
  }
}

RandomStream stream(std::uint32_t source = 0) {
  return {1, Purpose::kLoss, source, 0};
}

TEST(RandomLosses, LoseThatShareOfThePackets) {
  constexpr double kProbability = 0.01, kSegment = 1000;
  constexpr int kPackets = 1000000;
  RandomLosses losses(kProbability, kSegment, stream());
  int lost = 0;
  double left = kPackets * kSegment;
  while (losses.bytes_to_next() <= left) {
    left -= losses.bytes_to_next();
    lost += losses.sent(losses.bytes_to_next());
  }
  EXPECT_NEAR(lost, 10000, 4 * std::sqrt(10000.));  // four standard deviations
  EXPECT_NE(RandomLosses(kProbability, kSegment, stream(1)).bytes_to_next(),
            RandomLosses(kProbability, kSegment, stream(2)).bytes_to_next());
  // They add up over links.
  EXPECT_NEAR(path_loss(0.1, 2), 0.19, 1e-15);
  EXPECT_NEAR(path_loss(1e-9, 3), 3e-9, 1e-17);
}

// Mb/s of one connection whose window nothing but losses limits, in the steady state, a round trip a step;
// losses after every `spacing` bytes.
template <typename Spacing>
double mean_rate(double rtt_s, bool is_cubic, bool is_linux, Spacing spacing) {
  constexpr int kWarmUp = 300, kCycles = 3000;
  TcpWindow window({kSegment, 1e12, rtt_s, is_cubic, is_linux});
  double sent = 0, rounds = 0;
  for (int cycle = 0; cycle < kWarmUp + kCycles; ++cycle) {
    if (cycle == kWarmUp) sent = rounds = 0;
    for (double left = spacing(); left > 0; left -= window.bytes()) {
      window.passed(rtt_s);
      acknowledge(window);
      sent += window.bytes();
      ++rounds;
    }
    window.congested();
  }
  return sent * 8 / (rounds * rtt_s) / 1e6;
}

// RFC 8312 with C = 0.4 and β = 0.7 for evenly spaced losses: 1.054 (RTT / p)^(3/4) segments, and on Linux
// not below Reno's sqrt(3 / (2 p)). The round trip of the repair, with a window that does not grow, and whole
// round trips cost some of it where a cycle has few of them.
TEST(LossResponse, IsTheTableOfTheRfc) {
  const double rtts[] = {0.02, 0.1, 0.2}, losses[] = {1e-4, 1e-5, 1e-6};
  const double expected[3][3] = {{71, 224, 1027}, {22, 122, 687}, {18, 103, 577}};
  for (int rtt = 0; rtt < 3; ++rtt)
    for (int loss = 0; loss < 3; ++loss)
      EXPECT_NEAR(mean_rate(rtts[rtt], true, true, [&] { return 1448 / losses[loss]; }) / expected[rtt][loss],
                  1, 0.1)
          << rtts[rtt] << ' ' << losses[loss];
  // Reno at p = 1e-5: sqrt(150000) = 387 segments.
  EXPECT_NEAR(mean_rate(0.02, false, false, [] { return 1448 / 1e-5; }) / 224, 1, 0.1);
}

// Independent losses, ns-3 3.37 in packets at 1e-4: 42 to 52 Mb/s at 20 ms, 26 to 31 at 100 ms.
TEST(LossResponse, IsThatOfNs3WithIndependentLosses) {
  const struct { double rtt_s, loss, low, high; } measured[] = {{0.02, 1e-4, 42, 52}, {0.1, 1e-4, 26, 31}};
  for (const auto& item : measured) {
    RandomLosses losses(item.loss, 1448, stream());
    const double rate = mean_rate(item.rtt_s, true, false, [&] {
      const double bytes = losses.bytes_to_next();
      losses.sent(bytes);
      return bytes;
    });
    EXPECT_GT(rate, 0.85 * item.low) << item.rtt_s << ' ' << item.loss;
    EXPECT_LT(rate, 1.15 * item.high) << item.rtt_s << ' ' << item.loss;
  }
}

constexpr double kRtt_s = 0.1, kTimeout_s = 0.3;

// A queue above 5 ms from 1 s on: marked at 1.1, noticed at 1.2. The sender's own packets fill the queue for
// another 30 ms: marks up to 1.23 (1.2) are of the time before; the next is at 1.25, noticed at 1.35.
TEST(CongestionReaction, IsOneForEachRoundTrip) {
  CongestionReaction reaction(kRtt_s, kTimeout_s, CoDel(true), std::nullopt);
  EXPECT_EQ(reaction.next_s(), kNoSignal);
  reaction.queue_above(1, 10);
  EXPECT_DOUBLE_EQ(reaction.next_s(), 1.2);
  EXPECT_EQ(reaction.take(1.19, 0), CongestionReaction::Kind::kNone);
  EXPECT_EQ(reaction.take(1.2, 0.03), CongestionReaction::Kind::kMarked);
  EXPECT_NEAR(reaction.next_s(), 1.35, 1e-9);
  reaction.queue_below(1.24);
  EXPECT_EQ(reaction.next_s(), kNoSignal);
  EXPECT_EQ(reaction.lost(), 0) << "marked packets are not lost";
  CongestionReaction short_queue(kRtt_s, kTimeout_s, CoDel(true), std::nullopt);
  short_queue.queue_above(1, 1.09);
  EXPECT_EQ(short_queue.next_s(), kNoSignal);
}

// Segments of 1000 bytes at 1 MB/s, a millisecond each. The first loss of a connection leaves at 2 s, behind
// others; the next loss is far away.
CongestionReaction with_lost_segment(bool has_rack) {
  const RandomLosses first(1e-3, 1000, stream());
  CongestionReaction reaction(kRtt_s, kTimeout_s, std::nullopt, first, has_rack);
  reaction.sent(first.bytes_to_next(), 1e6, 2);
  reaction.set_loss(0);
  EXPECT_EQ(reaction.lost(), 1);
  EXPECT_EQ(reaction.repaired(), 0);
  EXPECT_NEAR(reaction.bytes_to_loss(), has_rack ? 1000 : 3000, 1e-9);
  return reaction;
}

// Noticed by three behind it; RACK (RFC 8985) needs one, and waits for a quarter of a round trip.
TEST(LostSegment, IsSentAgainWhenItIsNoticed) {
  using Kind = CongestionReaction::Kind;
  const struct {
    std::vector<std::pair<double, double>> sent;  // behind it: bytes, and when they have left
    std::pair<double, Kind> three, rack;          // when it is repaired, and as what it was noticed
  } cases[] = {
      // The third segment behind it left at 2.003 and is acknowledged a round trip of 100 ms later.
      {{{5000, 2.005}}, {2.103, Kind::kLost}, {2.103, Kind::kLost}},
      // They may be of a later message: two at 2.002 are too few, the third leaves at 2.051. 2 + 1.25 · 0.1.
      {{{2000, 2.002}, {2000, 2.052}}, {2.151, Kind::kLost}, {2.125, Kind::kLost}},
      // The segment before it is acknowledged at 2.1, which sets the timer to 0.3 s.
      {{}, {2.4, Kind::kTimedOut}, {2.4, Kind::kLost}},
      // A segment at 2.2 comes too late to tell before the timer does, unless it alone is enough.
      {{{1000, 2.201}}, {2.4, Kind::kTimedOut}, {2.301, Kind::kLost}}};
  for (const bool has_rack : {false, true})
    for (const auto& [sent, three, rack] : cases) {
      CongestionReaction reaction = with_lost_segment(has_rack);
      for (const auto& [bytes, now_s] : sent) reaction.sent(bytes, 1e6, now_s);
      const auto [repair_s, kind] = has_rack ? rack : three;
      EXPECT_NEAR(reaction.next_s(), repair_s, 1e-9);
      EXPECT_EQ(reaction.take(repair_s - 1e-6, 0), Kind::kNone);
      EXPECT_EQ(reaction.take(repair_s, 0), kind);
      EXPECT_EQ(reaction.repaired(), 1);
      EXPECT_EQ(reaction.next_s(), kNoSignal);
    }
}

// Each repair is lost too: the timer again, 0.3 s after it.
TEST(LostSegment, IsSentAgainUntilItArrives) {
  for (const bool has_rack : {false, true}) {
    CongestionReaction reaction = with_lost_segment(has_rack);
    reaction.set_loss(1);
    for (const double repair_s : {2.4, 2.7}) {
      EXPECT_NEAR(reaction.next_s(), repair_s, 1e-9);
      reaction.take(repair_s, 0);
      EXPECT_EQ(reaction.repaired(), 0);
    }
    reaction.set_loss(0);
    reaction.take(3, 0);
    EXPECT_EQ(reaction.repaired(), 1);
  }
  // The first packet after idling has no acknowledgement before it: the timer runs from its own sending.
  CongestionReaction alone(kRtt_s, kTimeout_s, std::nullopt, RandomLosses(1, 1000, stream()));
  alone.sent(1000, 1e6, 2);
  EXPECT_NEAR(alone.next_s(), 2.3, 1e-9);
}

// Lost at 2 and 2.002 s. What arrives behind the first leaves at 2.001, 2.003 and 2.004, behind the second
// are two only: it goes out a round trip after the first, and the window is cut once.
TEST(CongestionReaction, RepairsAWindowWithOneReduction) {
  CongestionReaction reaction(kRtt_s, kTimeout_s, std::nullopt, RandomLosses(1, 1000, stream()));
  const auto send = [&](double loss, double bytes, double now_s) {
    reaction.set_loss(loss);
    reaction.sent(bytes, 1e6, now_s);
  };
  send(1, 1000, 2);
  send(0, 1000, 2.001);
  send(1, 1000, 2.002);
  send(0, 2000, 2.004);
  EXPECT_NEAR(reaction.next_s(), 2.104, 1e-9);
  EXPECT_EQ(reaction.take(2.104, 0), CongestionReaction::Kind::kLost);
  EXPECT_NEAR(reaction.next_s(), 2.204, 1e-9);
  EXPECT_EQ(reaction.take(2.204, 0), CongestionReaction::Kind::kNone);
  EXPECT_EQ(reaction.repaired(), 2);
}

}  // namespace longhaul::tcp_window_test
