#include "replay/predict/estimate.h"

#include <gtest/gtest.h>

#include "tests/support/said.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::estimate_test {

// A ring among 4 every 10 of 100 steps: 10 exchanges of 2·3·4 = 24 transfers, together 6 · B, B = 2 · 1000
// bytes. 500 bytes are less than an initial window: each transfer is sent and arrives, two events. Of 8
// members each sends 14 chunks of 100 kB to one neighbour: 3 doublings cover a chunk (116 kB), in the first
// round only, once per connection.
TEST(Estimate, CountsTheTransfersOfAllExchangesAndTheirEvents) {
  const ReplayEstimate flow =
      estimate(star_case(4, 1e8, 0.05), make_trace({{rule_of("ring", 10)}}, {1, 4, 100, 2000}));
  EXPECT_EQ(flow.transfers, 240);
  EXPECT_EQ(flow.payload_bytes, 10 * 6 * 2000);
  EXPECT_EQ(flow.events, 480);
  EXPECT_EQ(estimate(star_case(8, 1e8, 0.05), single_exchange("ring", 8, 800000)).events,
            8 * (14 * 2 + 3 * 2));
}

// 100 Mb/s hold 590 kB for 50 ms. From 14,480 bytes the window is there after 6 doublings (463 kB after 5),
// each the end of a burst and its acknowledgements; then the end of sending and the arrival. A pair has two
// messages of 20 MB, each on a connection that idled. Four connections have 57,920 bytes together at first,
// as one fluid: 927 kB after 4 doublings.
TEST(Estimate, AWindowThatIdledDoublesUntilItCoversThePath) {
  Case config = star_case(2, 1e8, 0.05);
  const Trace ten_steps = make_trace({{rule_of("pair")}}, {1, 2, 10, 20000000});
  EXPECT_EQ(estimate(config, ten_steps).events, 10 * 2 * (6 * 2 + 2));
  config.network.tcp.connections = 4;
  EXPECT_EQ(estimate(config, ten_steps).events, 10 * 2 * (4 * 2 + 2));
  config.network.tcp.connections = 1;
  const double fluid_s = estimate(config, ten_steps).seconds;
  config.network.fidelity = "packet";
  EXPECT_GT(estimate(config, ten_steps).seconds, 100 * fluid_s) << "packets cost more";
}

// A replay at 100 Tb/s never ended: a segment takes 0.1 ns, and the clock has whole ones.
TEST(CheckNetwork, PacketsHaveALongestMessageAndFlowAFastestLink) {
  Case config = star_case(2, 1e8, 0.05);
  config.workload.parameters = 6800000000;
  EXPECT_NO_THROW(check_network(config)) << "flow has no such limit";
  config.network.fidelity = "packet";
  EXPECT_THROW(check_network(config), InputError);
  config.network.tcp.connections = 8;
  EXPECT_NO_THROW(check_network(config));
  EXPECT_NO_THROW(check_network(star_case(4, 1e13, 0)));
  Case fast = star_case(4, 1e14, 0);
  const InputError error = thrown_by([&] { check_network(fast); });
  EXPECT_EQ(error.parts().path, "network.topology");
  EXPECT_SAYS(error.parts().allowed, "at most 10 Tbps");
  fast.network.fidelity = "analytic";
  EXPECT_NO_THROW(check_network(fast));
}

// ns-3's BBR does not recover from losses in a FIFO.
TEST(CheckNetwork, PacketsRefuseBbrBeforeFifosThatOverflow) {
  const auto accepts = [](const char* congestion_control, const char* queue, double products,
                          std::optional<double> bytes = {}) {
    Case config = star_case(2, 1e8, 0.06);
    config.network.fidelity = "packet";
    config.network.tcp.congestion_control = congestion_control;
    config.network.tcp.queue = queue;
    config.network.tcp.queue_products = products;
    config.network.tcp.queue_bytes = bytes;
    return said_by([&] { check_network(config); }).empty();
  };
  EXPECT_TRUE(accepts("bbr", "host", 1)) << "hosts do not drop";
  EXPECT_TRUE(accepts("bbr", "fifo", 1.5));
  EXPECT_FALSE(accepts("bbr", "fifo", 1.4));
  // 100 Mb/s for 60 ms and what the packets themselves take: 751 to 760 kB are a product.
  EXPECT_TRUE(accepts("bbr", "fifo", 1, 1.5 * 760e3));
  EXPECT_FALSE(accepts("bbr", "fifo", 1, 1.5 * 749e3));
  EXPECT_TRUE(accepts("bbr", "host", 1, 1.5 * 749e3));
  EXPECT_TRUE(accepts("cubic", "fifo", 1, 1.5 * 749e3));
}

TEST(Collectives, WithoutSitesHierarchicalIsRefused) {
  OperationRule rule;
  rule.collective = "hierarchical";
  EXPECT_THROW(check_collectives(star_case(4, 1e9, 0.1), {{rule}}), InputError);
  EXPECT_NO_THROW(check_collectives(regions_case("aws-2022", {{"london", 2}, {"tokyo", 2}}), {{rule}}));
}

}  // namespace longhaul::estimate_test
