// BBR in the flow fidelity against closed forms; the kernel's is in results/reference/kernel/bbr.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "net/tcp/framing.h"
#include "tests/unit/sim/replays.h"

namespace longhaul::bbr_flow_test {

Case bbr_case(double rate, double rtt_s, int connections) {
  Case config = star_case(2, rate, rtt_s);
  config.network.tcp.congestion_control = "bbr";
  config.network.tcp.connections = connections;
  return config;
}

// Bytes of payload a second of a link that is busy both ways.
double both_ways(double rate) {
  return rate / 8 * payload_share(1448) / (1 + ack_share(1448));
}

// Once the path is known a message takes latency + bytes / rate, a pause of a second before it or not: with
// CUBIC start-up costs two round trips and more.
TEST(BbrFlow, AMessageBehindAPauseTakesLatencyAndBytesOverRate) {
  const double rate = 1e8, rtt_s = 0.05;
  const auto bytes = static_cast<std::int64_t>(20 * rate / 8 * rtt_s);
  const double bound_s = rtt_s / 2 + static_cast<double>(bytes) / both_ways(rate);
  for (const int connections : {1, 4}) {
    Case config = bbr_case(rate, rtt_s, connections);
    const Replayed replayed = run_replay(config, single_exchange("pair", 2, bytes, 2));
    EXPECT_GT(replayed.sync_time_s(1), bound_s + rtt_s);
    EXPECT_NEAR(replayed.sync_time_s(2), bound_s, 0.002 * bound_s);
    config.network.tcp.congestion_control = "cubic";
    EXPECT_GT(run_replay(config, single_exchange("pair", 2, bytes, 2)).sync_time_s(2), bound_s + rtt_s / 2);
  }
}

// A thousandth of all packets, sent again, takes a thousandth more, and a last one that is lost a round trip.
TEST(BbrFlow, ALossOfAThousandthCostsAThousandth) {
  Case config = bbr_case(1e8, 0.01, 1);
  const Trace trace = single_exchange("pair", 2, 500000000);
  const double free_s = run_replay(config, trace).sync_time_s();
  config.network.tcp.loss = 5e-4;  // of a path of two links 1e-3
  const double lossy_s = run_replay(config, trace).sync_time_s();
  EXPECT_NEAR(lossy_s / free_s, 1.001, 0.0004);
  config.network.tcp.congestion_control = "cubic";
  EXPECT_GT(run_replay(config, trace).sync_time_s(), 1.5 * lossy_s);
}

// A loss may hold a message up by one round trip and a quarter, if it is of the last data; it is found by
// what follows it otherwise. Only a repair that is lost, one in a thousand, takes more. So the median of the
// late ones is at most 1.25 round trips.
TEST(BbrFlow, LossesHoldAMessageUpByARoundTrip) {
  const double rtt_s = 0.05;
  Case config = bbr_case(1e8, rtt_s, 1);
  const Trace trace = single_exchange("pair", 2, 1000000, 40);
  const Replayed free = run_replay(config, trace);
  config.network.tcp.loss = 5e-4;
  const Replayed lossy = run_replay(config, trace);
  std::vector<double> late_s;
  for (int step = 2; step <= 40; ++step) {
    const double more_s = lossy.sync_time_s(step) - free.sync_time_s(step);
    EXPECT_GT(more_s, -1e-6);
    if (more_s > 0.01) late_s.push_back(more_s);
  }
  ASSERT_GT(late_s.size(), 4);
  EXPECT_LT(late_s.size(), 36);
  std::sort(late_s.begin(), late_s.end());
  EXPECT_LT(late_s[late_s.size() / 2], 1.25 * rtt_s);
}

}  // namespace longhaul::bbr_flow_test
