#include <gtest/gtest.h>

#include <cmath>

#include "net/tcp/connection.h"
#include "net/tcp/window.h"

namespace longhaul::tcp_window_test {

constexpr double kSegment = 1448;

TcpWindow window_of(double limit, double rtt_s, bool is_cubic = true) {
  return TcpWindow({kSegment, limit, rtt_s, is_cubic});
}

TEST(TcpWindow, DoublesEveryRoundTripThatUsesIt) {
  TcpWindow window = window_of(1e9, 0.1);
  for (double expected = 10 * kSegment; expected < 1e6; expected *= 2) {
    EXPECT_DOUBLE_EQ(window.bytes(), expected);
    window.acknowledged(window.bytes(), window.bytes());
  }
}

// 4000 bytes in flight under a window of 14,480: less than half of it.
TEST(TcpWindow, DoesNotGrowUnused) {
  TcpWindow window = window_of(1e9, 0.1);
  window.acknowledged(4000, 4000);
  EXPECT_DOUBLE_EQ(window.bytes(), 14480);
  window.acknowledged(10000, 10000);
  EXPECT_DOUBLE_EQ(window.bytes(), 20000) << "to twice of what was in flight";
}

// The pipe holds 20 segments, the window 20: one more round trip of acknowledgements makes it 40, and HyStart
// ends slow start there. From then on it grows by 5 % a round trip at first.
TEST(TcpWindow, CubicLeavesSlowStartWhenThePipeIsFull) {
  TcpWindow window = window_of(1e9, 0.1);
  window.acknowledged(window.bytes(), window.bytes());
  window.filled_pipe(1e6, 20 * kSegment);
  EXPECT_DOUBLE_EQ(window.bytes(), 40 * kSegment);
  EXPECT_FALSE(window.in_slow_start());
  window.acknowledged(window.bytes(), window.bytes());
  EXPECT_DOUBLE_EQ(window.bytes(), 1.05 * 40 * kSegment);
}

TEST(TcpWindow, RenoHasNoHyStart) {
  TcpWindow window = window_of(1e9, 0.1, /*is_cubic=*/false);
  window.filled_pipe(1e6, 20 * kSegment);
  EXPECT_TRUE(window.in_slow_start());
}

TEST(TcpWindow, NeverExceedsItsLimit) {
  TcpWindow window = window_of(50000, 0.1);
  for (int i = 0; i < 10; ++i) window.acknowledged(window.bytes(), window.bytes());
  EXPECT_DOUBLE_EQ(window.bytes(), 50000);
}

// RTT 0.1 s: time-out 0.3 s. 0.29 s change nothing; 3 s are 10 time-outs, 2^-9.5 of 80 segments is below the
// initial window. The threshold stays at 80 segments: slow start up to there and no further.
TEST(TcpWindow, IsColdAgainAfterIdling) {
  TcpWindow window = window_of(1e9, 0.1);
  window.acknowledged(window.bytes(), window.bytes());
  window.acknowledged(window.bytes(), window.bytes());
  window.filled_pipe(1e6, 40 * kSegment);
  window.idled(0.29);
  EXPECT_DOUBLE_EQ(window.bytes(), 80 * kSegment);
  window.idled(3);
  EXPECT_DOUBLE_EQ(window.bytes(), 10 * kSegment);
  for (const double expected : {20., 40., 80.}) {
    EXPECT_TRUE(window.in_slow_start());
    window.acknowledged(window.bytes(), window.bytes());
    EXPECT_DOUBLE_EQ(window.bytes(), expected * kSegment);
  }
  EXPECT_FALSE(window.in_slow_start());
}

// 10 segments of slow start and 90 acknowledged.
TcpWindow window_of_100(bool is_cubic = true) {
  TcpWindow window = window_of(1e9, 0.1, is_cubic);
  window.acknowledged(90 * kSegment, 100 * kSegment);
  return window;
}

constexpr double kFast = 1e9, kPipe = 1e8;  // so fast that acknowledgements never hold the cubic back

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

// RFC 8312, 4.6: a second signal at 70, below W_max: W_max = 70 · 0.85 = 59.5, W = 49, K = cbrt(10.5 / 0.4).
TEST(TcpWindow, ConvergesFast) {
  TcpWindow window = window_of_100();
  window.congested();
  window.congested();
  EXPECT_DOUBLE_EQ(window.bytes(), 49 * kSegment);
  window.flowed(0.1, kFast, kPipe, 0);
  EXPECT_NEAR(window.time_to(59.5 * kSegment, kFast, kPipe, 0), std::cbrt(26.25), 1e-9);
}

// Half, and a segment a round trip after the one of the repair.
TEST(TcpWindow, RenoHalves) {
  TcpWindow window = window_of_100(/*is_cubic=*/false);
  window.congested();
  EXPECT_DOUBLE_EQ(window.bytes(), 50 * kSegment);
  window.acknowledged(window.bytes(), window.bytes());
  EXPECT_DOUBLE_EQ(window.bytes(), 50 * kSegment);
  window.passed(0.1);
  window.acknowledged(window.bytes(), window.bytes());
  EXPECT_DOUBLE_EQ(window.bytes(), 51 * kSegment);
}

TEST(TcpWindow, StartsFromOneSegmentAfterATimeOut) {
  TcpWindow window = window_of_100();
  window.timed_out();
  EXPECT_DOUBLE_EQ(window.bytes(), kSegment);
  for (const double expected : {2., 4., 8., 16., 32., 64., 70.}) {
    window.acknowledged(window.bytes(), window.bytes());
    EXPECT_DOUBLE_EQ(window.bytes(), expected * kSegment);
  }
}

// 100 → 70, then 3 s without data: 2^-9.5 of it, at least 10. The reduction has not ended, so the first
// acknowledgement brings the window to the threshold.
TEST(TcpWindow, EndsAReductionAfterIdling) {
  TcpWindow window = window_of_100();
  window.congested();
  window.idled(3);
  window.hold_reduction();
  EXPECT_DOUBLE_EQ(window.bytes(), 10 * kSegment);
  window.acknowledged(2 * kSegment, 10 * kSegment);
  EXPECT_DOUBLE_EQ(window.bytes(), 70 * kSegment);
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

// net.ipv4.tcp_slow_start_after_idle = 0.
TEST(TcpWindow, OutlivesSilenceWhereTheHostSaysSo) {
  WindowRules rules{kSegment, 1e9, 0.1, true};
  rules.slow_start_after_idle = false;
  TcpWindow window(rules);
  window.acknowledged(window.bytes(), window.bytes());
  EXPECT_FALSE(window.idled(3));
  EXPECT_DOUBLE_EQ(window.bytes(), 20 * kSegment);
}

TEST(TcpWindow, KeepsHalfOfItAfterOneAndAHalfTimeouts) {
  EXPECT_DOUBLE_EQ(window_kept_after_idle(0.45, 0.1), 0.5);
  EXPECT_DOUBLE_EQ(window_kept_after_idle(0.30, 0.1), 1);
}

}  // namespace longhaul::tcp_window_test
