#include "net/tcp_window.h"

#include <gtest/gtest.h>

#include "net/connection.h"

namespace longhaul {
namespace {

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

TEST(TcpWindow, KeepsHalfOfItAfterOneAndAHalfTimeouts) {
  EXPECT_DOUBLE_EQ(window_kept_after_idle(0.45, 0.1), 0.5);
  EXPECT_DOUBLE_EQ(window_kept_after_idle(0.30, 0.1), 1);
}

}  // namespace
}  // namespace longhaul
