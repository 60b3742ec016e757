#include <gtest/gtest.h>

#include "net/tcp/congestion.h"
#include "net/tcp/fifo.h"
#include "net/topology.h"

namespace longhaul::queues_test {

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

TEST(CoDel, WatchesFiveMilliseconds) {
  EXPECT_DOUBLE_EQ(CoDel(true).watched_level(1e6), 5000);
  EXPECT_FALSE(CoDel(true).drops());
  EXPECT_TRUE(CoDel(false).drops());
}

// An interval after the level was passed, then interval · x with x(1) = 1 and one Newton step for 1 / sqrt(n)
// a signal, x(n) = x(n − 1) (3 − n x(n − 1)²) / 2: 0.5, 0.5625, 0.48779.
TEST(CoDel, SignalsMoreAndMoreOften) {
  CoDel codel(true);
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

TEST(CoDel, IsSilentOnceTheQueueIsShort) {
  CoDel codel(true);
  codel.above(0);
  codel.below();
  EXPECT_EQ(codel.next_s(0), kNoSignal);
  codel.above(0.2);
  EXPECT_DOUBLE_EQ(codel.next_s(0), 0.3) << "the interval begins again";
}

// Four signals, then short, then long again: it goes on with 4 − 1 = 3, x = 0.48779 (3 − 3 · 0.48779²) / 2 =
// 0.55759. After 16 intervals of a short queue it has forgotten.
TEST(CoDel, GoesOnWhereItLeftOffIfThatWasRecently) {
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

}  // namespace longhaul::queues_test
