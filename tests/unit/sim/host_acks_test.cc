// When a Linux receiver acknowledges at once: the rules of net/ipv4/tcp_input.c and tcp.c worked out by hand.
#include "sim/network/host_acks.h"

#include <gtest/gtest.h>

namespace longhaul::host_acks_test {

constexpr int kSegment = 1448;
constexpr double kLarge = 1e6;

int prompt_at_first(HostAcks& acks, int segment, double now_s) {
  int count = 0;
  while (count < 100 && acks.at_once(segment, false, now_s)) ++count;
  return count;
}

// TCP_MAX_QUICKACKS is 16; half of the window that a handshake offers, 65535 bytes, is 22 segments of 1448
// and 3 of 8948; half of a receive buffer of 20 segments is 10.
TEST(HostAcks, TheFirstSegmentsOneByOne) {
  HostAcks usual(kSegment, kLarge, 0.1), jumbo(8948, kLarge, 0.1), small(kSegment, 20 * kSegment, 0.1);
  EXPECT_EQ(prompt_at_first(usual, kSegment, 1), 16);
  EXPECT_EQ(prompt_at_first(jumbo, 8948, 1), 3);
  EXPECT_EQ(prompt_at_first(small, kSegment, 1), 10);
}

TEST(HostAcks, AShortSegmentAndTheEndOfAWriteAtOnce) {
  HostAcks acks(kSegment, kLarge, 0.1);
  prompt_at_first(acks, kSegment, 1);
  EXPECT_FALSE(acks.at_once(kSegment, false, 1));
  EXPECT_TRUE(acks.at_once(kSegment, true, 1));
  EXPECT_TRUE(acks.at_once(kSegment - 1, false, 1));
  EXPECT_FALSE(acks.at_once(kSegment, false, 1));
}

// The time-out of a host that measured one round trip is RTT + 4 · RTT/2 (RFC 6298), at least RTT + 200 ms:
// 0.25 s at 50 ms, 0.6 s at 200 ms. A window that has grown is 16 segments of 8948 too.
TEST(HostAcks, OneByOneAgainAfterASilenceLongerThanTheTimeOut) {
  HostAcks near(kSegment, kLarge, 0.05), far(8948, kLarge, 0.2);
  prompt_at_first(near, kSegment, 1);
  EXPECT_EQ(prompt_at_first(near, kSegment, 1.249), 0);
  EXPECT_EQ(prompt_at_first(near, kSegment, 1.5), 16);
  prompt_at_first(far, 8948, 1);
  EXPECT_EQ(prompt_at_first(far, 8948, 1.599), 0);
  EXPECT_EQ(prompt_at_first(far, 8948, 2.2), 16);
}

}  // namespace longhaul::host_acks_test
