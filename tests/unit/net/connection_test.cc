// When a message has arrived that a fluid has sent (net/tcp/connection.h), by hand: segments of 1448 bytes
// with 90 of headers, which routers forward whole.
#include "net/tcp/connection.h"

#include <gtest/gtest.h>

#include "net/tcp/framing.h"

namespace longhaul::connection_test {

// From a host to another over a router, 2 and 3 ms away, bit/s.
double arrival_ms(double first_rate, double second_rate, std::int64_t bytes) {
  Topology topology(2);
  const int router = topology.add_router("core");
  topology.add_link({"a-core", 0, router, first_rate, first_rate, 0.002});
  topology.add_link({"core-b", router, 1, second_rate, second_rate, 0.003});
  const TcpSpec tcp;
  const ConnectionFacts facts = connection_facts(topology, tcp, 0, 1);
  const double fluid_s = static_cast<double>(bytes) / payload_rate(facts.bottleneck, tcp.segment);
  const double tail = tail_s(topology, facts, tcp.segment, bytes);
  std::vector<double> rates;
  for (int direction = 0; direction < 4; ++direction) rates.push_back(topology.rate(direction));
  EXPECT_DOUBLE_EQ(tail_s(rates, facts, tcp.segment, bytes), tail);
  return 1000 * (fluid_s + tail);
}

// 1548 bytes are a full segment and one of 100 bytes, 1538 and 190 on the wire.
TEST(Connection, AShortLastSegmentWaitsForAFullOne) {
  // Equal links: both segments on the first one, and the full one and then the short one on the second.
  EXPECT_NEAR(arrival_ms(1e6, 1e6, 1548), 5 + 8e-3 * (1538 + 1538 + 190), 1e-9);
  EXPECT_NEAR(arrival_ms(5e5, 5e5, 1452), 5 + 16e-3 * (1538 + 1538 + 94), 1e-9);
  EXPECT_NEAR(arrival_ms(1e6, 1e6, 3 * 1448), 5 + 8e-3 * 4 * 1538, 1e-9) << "full ones";
  // At 4 Mb/s the full one is through 15.38 ms after its begin, when the short one has been there for 1.556.
  EXPECT_NEAR(arrival_ms(1e6, 4e6, 1548), 5 + 8e-3 * 1538 + 2e-3 * 1538 + 2e-3 * 190, 1e-9);
  EXPECT_NEAR(arrival_ms(1e6, 1e9, 1548), 5 + 8e-3 * (1538 + 190) + 8e-6 * 190, 1e-9)
      << "it is through before";
}

// Behind the faster link the slowest one begins when the first segment is there whole.
TEST(Connection, BeforeTheSlowestLinkTheFirstSegmentCounts) {
  EXPECT_NEAR(arrival_ms(4e6, 1e6, 1548), 5 + 2e-3 * 1538 + 8e-3 * (1538 + 190), 1e-9);
}

TEST(Connection, AMessageOfOneSegmentHasWholeHeaders) {
  EXPECT_NEAR(arrival_ms(1e6, 4e6, 100), 5 + (8e-3 + 2e-3) * 190, 1e-9);
  EXPECT_NEAR(arrival_ms(4e6, 1e6, 100), 5 + (8e-3 + 2e-3) * 190, 1e-9);
}

}  // namespace longhaul::connection_test
