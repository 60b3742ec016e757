#include "net/tcp/fifo.h"

#include <gtest/gtest.h>

#include "net/topology.h"

namespace longhaul::fifo_test {

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

}  // namespace longhaul::fifo_test
