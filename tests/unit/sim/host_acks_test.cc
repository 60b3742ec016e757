// When a Linux receiver acknowledges at once: the rules of net/ipv4/tcp_input.c and tcp.c worked out by hand.
// Which segments carry PSH, on histories of a few segments.
#include "sim/network/host_acks.h"

#include <gtest/gtest.h>

#include <vector>

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

TEST(PushMarks, AreOnTheLastOfThoseThatLeaveTogether) {
  struct Burst {
    int begin, count;  // segments of 10 bytes from there on leave together
    double now_s;
  };
  const struct {
    const char* what;
    std::vector<Burst> bursts;
    int end;
    std::vector<int> expected;
  } cases[] = {
      {"three together", {{0, 3, 1}}, 30, {30}},
      {"two, each alone", {{0, 1, 1}, {10, 1, 2}}, 20, {}},
      {"two bursts and a lone one that all leave first", {{0, 2, 1}, {20, 3, 2}, {50, 1, 3}}, 60, {20, 50}},
      // Bytes 0 … 10 at the moment when bytes 20 … 40 leave: they are no part of that burst.
      {"a repetition", {{0, 1, 1}, {10, 1, 2}, {0, 1, 3}, {20, 2, 3}}, 40, {40}}};
  for (const auto& [what, bursts, end, expected] : cases) {
    PushMarks marks;
    for (const auto& [begin, count, now_s] : bursts)
      for (int i = 0; i < count; ++i) marks.sent(begin + 10 * i, begin + 10 * (i + 1), now_s);
    std::vector<int> marked;  // by their ends, of those that arrive in order
    for (int at = 10; at <= end; at += 10)
      if (marks.take(at)) marked.push_back(at);
    EXPECT_EQ(marked, expected) << what;
  }
}

}  // namespace longhaul::host_acks_test
