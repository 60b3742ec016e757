// The flow fidelity against closed forms on an idle star; also of access links that are faster down than up,
// as homes have them, whose round trips are short, so that windows are open at once; and of BBR (the kernel's
// is in results/reference/kernel/bbr.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/unit/sim/replays.h"
#include "tests/unit/sim/transfers.h"

namespace longhaul::flow_closed_form_test {

constexpr double kSegment = 1448, kWire = 1538, kAck = 90, kAckShare = kAck / (2 * kWire), kRtt = 1e-4;

double payload_bytes_per_s(double wire_rate) {
  return wire_rate / 8 * kSegment / kWire;
}

// Rates of payload, round trips, and seconds that slow start loses against line rate as tabulated, to two
// digits: the rounds whose window is below the pipe, each of which lasts a round trip and sends what takes
// window / rate.
TEST(SlowStart, LosesTheTimesOfTheTable) {
  const double table[][3] = {{1e8, 0.02, 0.06},  {1e8, 0.1, 0.55},  {1e8, 0.2, 1.30},
                             {1e9, 0.02, 0.13},  {1e9, 0.1, 0.88},  {1e9, 0.2, 1.96},
                             {1e10, 0.02, 0.20}, {1e10, 0.1, 1.21}, {1e10, 0.2, 2.62}};
  for (const auto& [payload_rate, rtt_s, tabulated_s] : table) {
    const double bytes_per_s = payload_rate / 8, rate = payload_rate * kWire / kSegment;
    const double bytes = std::floor(20 * bytes_per_s * rtt_s);
    // The serialization of a segment is part of the round trip: taken off the delay, so that it is the
    // table's.
    const double delay_s = rtt_s - 2 * 8 * (kWire + kAck) / rate;
    const double lost_s = arrival_s(star_case(2, rate, delay_s), bytes) - bytes / bytes_per_s - rtt_s / 2;
    EXPECT_NEAR(lost_s, tabulated_s, 0.007) << payload_rate << " bit/s, " << rtt_s << " s";
    double expected_s = 0;
    for (double window = 10 * kSegment; window < bytes_per_s * rtt_s; window *= 2)
      expected_s += rtt_s - window / bytes_per_s;
    EXPECT_NEAR(lost_s, expected_s, 0.01 * rtt_s);
  }
}

// Both directions busy: data has 1 / (1 + a) of the link, a = 90 / (2 · 1538) the share of acknowledgements.
double both_ways(double rate) {
  return payload_bytes_per_s(rate) / (1 + kAckShare);
}

TEST(FlowPair, IsLatencyAndStartUpAndBytesOverRate) {
  for (const double products : {1., 5., 50.}) {
    const double rate = 1e8, rtt_s = 0.05;
    const double full_rtt_s = rtt_s + 2 * 8 * (kWire + kAck) / rate;
    const double bytes = std::floor(products * rate / 8 * rtt_s);
    // Windows of less than the pipe wait for the round to end, unless the transfer ends in one of them.
    double left = bytes, expected = rtt_s / 2;
    for (double window = 10 * kSegment; window < left && window < both_ways(rate) * full_rtt_s; window *= 2) {
      expected += full_rtt_s;
      left -= window;
    }
    expected += left / both_ways(rate);
    // The last segment is forwarded once more by the core.
    EXPECT_NEAR(exchanged(star_case(2, rate, rtt_s), "pair", bytes).sync_time_s(), expected, 2e-4)
        << products;
  }
}

// A round trip a window, but for the last one, which leaves at the link's rate. The largest window is the one
// that a connection begins with, so that there is no slow start. Transfers of more than a few windows are
// fluid in between and take the same.
TEST(FlowCaps, AWindowLeavesAtTheRateOfTheLinkOnceARoundTrip) {
  const double rate = 1e8, rtt_s = 0.1, window = 10 * kSegment;
  const double full_rtt_s = rtt_s + 2 * 8 * (kWire + kAck) / rate;
  for (const int connections : {1, 4})
    for (const double windows : {0.5, 1., 1.5, 3., 7.25, 20., 100.5}) {
      Case config = star_case(2, rate, rtt_s);
      config.network.tcp.window = window;
      config.network.tcp.connections = connections;
      const double last = windows - std::ceil(windows) + 1;
      const double expected = (std::ceil(windows) - 1) * full_rtt_s + rtt_s / 2 +
                              8 * (last * window * connections * kWire / kSegment + kWire) / rate;
      // One message there, one back.
      const Replayed replayed = exchanged(config, "tree", windows * window * connections);
      EXPECT_NEAR(replayed.sync_time_s() / (2 * expected), 1, 1e-3) << windows;
    }
}

// Oregon and Tokyo: 523 Mb/s a connection, 96 ms. The link of 10 Gb/s is no limit to the average, and what a
// window leaves at: after slow start one such window a round trip.
TEST(FlowCaps, OneConnectionBetweenRegionsHasTheMeasuredThroughput) {
  const Case config = regions_case("aws-2022", {{"oregon", 1}, {"tokyo", 1}});
  const double bytes_per_s = 523e6 / 8, rtt_s = 0.096, largest = bytes_per_s * rtt_s;
  const double bytes = std::floor(20 * bytes_per_s);
  double left = bytes, rounds = 0;
  for (double window = 10 * kSegment; left > std::min(window, largest); window *= 2, ++rounds)
    left -= std::min(window, largest);
  const double expected = rounds * rtt_s + rtt_s / 2 + left / payload_bytes_per_s(1e10);
  EXPECT_NEAR(exchanged(config, "pair", bytes).sync_time_s(), expected, 0.01);
}

// Replica i with up[i] and down[i], bit/s.
Case homes_of(const std::vector<double>& up, const std::vector<double>& down) {
  Case config = star_case(static_cast<int>(up.size()), 1e9, kRtt);
  for (std::size_t i = 0; i < up.size(); ++i) {
    config.network.overrides.push_back(up_of(static_cast<int>(i), up[i]));
    config.network.overrides.back().down = down[i];
  }
  return config;
}

// 0 → 1 is held by 0's way up, 1 → 0 by 1's, which is as fast or faster, each beside the acknowledgements of
// the other: x + a y = slow, y + a x = fast. When 1 → 0 has ended, 0 → 1 has its way up alone. The ways down
// are never full.
TEST(AsymmetricStar, APairIsAsFastAsTheSlowerWayUp) {
  const double bytes = 2e7;
  for (const auto& [slow, fast, down] :
       {std::tuple(2e7, 2e7, std::vector<double>{2e8, 2e8}), {1e7, 4e7, {1e8, 1.5e7}}}) {
    const double x = (slow - kAckShare * fast) / (1 - kAckShare * kAckShare),
                 y = (fast - kAckShare * slow) / (1 - kAckShare * kAckShare);
    const double first_s = bytes / payload_bytes_per_s(y);
    const double rest_s = (bytes - first_s * payload_bytes_per_s(x)) / payload_bytes_per_s(slow);
    const Replayed replayed = exchanged(homes_of({slow, fast}, down), "pair", bytes);
    EXPECT_NEAR(replayed.sync_time_s() / (first_s + rest_s + kRtt / 2), 1, 1e-3) << slow;
  }
}

// Everyone in the ring sends and receives in every step, so the slowest way up, beside the acknowledgements
// of what comes down, sets each of the 2 (n − 1) steps of B / n.
TEST(AsymmetricStar, ARingIsAsFastAsItsSlowestWayUp) {
  const int members = 4;
  const double slow = 5e6, bytes = 8e6, steps = 2 * (members - 1);
  const double lower = steps * bytes / members / payload_bytes_per_s(slow);
  const Replayed replayed = exchanged(homes_of({4e7, 3e7, slow, 2e7}, {2e8, 2e8, 2e8, 2e8}), "ring", bytes);
  EXPECT_GT(replayed.sync_time_s(), lower);
  // At worst acknowledgements of 20 Mb/s, what its predecessor sends, are beside its data all the time.
  EXPECT_LT(replayed.sync_time_s(), lower / (1 - kAckShare * 3e7 / slow));
}

// One way, 100 Mb/s down to somebody with 0.5 Mb/s up: 90 bytes for two segments of 1538 must fit into that.
TEST(AsymmetricStar, AcknowledgementsOnASlowWayUpLimitWhatComesDown) {
  const double slow_up = 5e5, bytes = 2e7;
  const double arrived_s = arrival_s(homes_of({1e8, slow_up}, {1e8, 1e8}), bytes);
  EXPECT_NEAR(arrived_s / (bytes / payload_bytes_per_s(slow_up / kAckShare)), 1, 5e-3);
}

Case bbr_case(double rate, double rtt_s, int connections) {
  Case config = star_case(2, rate, rtt_s);
  config.network.tcp.congestion_control = "bbr";
  config.network.tcp.connections = connections;
  return config;
}

// Once the path is known a message takes latency + bytes / rate, a pause of a second before it or not: with
// CUBIC start-up costs two round trips and more.
TEST(BbrFlow, AMessageBehindAPauseTakesLatencyAndBytesOverRate) {
  const double rate = 1e8, rtt_s = 0.05;
  const double bytes = 20 * rate / 8 * rtt_s, bound_s = rtt_s / 2 + bytes / both_ways(rate);
  for (const int connections : {1, 4}) {
    Case config = bbr_case(rate, rtt_s, connections);
    const Replayed replayed = exchanged(config, "pair", bytes, 2);
    EXPECT_GT(replayed.sync_time_s(1), bound_s + rtt_s);
    EXPECT_NEAR(replayed.sync_time_s(2), bound_s, 0.002 * bound_s);
    config.network.tcp.congestion_control = "cubic";
    EXPECT_GT(exchanged(config, "pair", bytes, 2).sync_time_s(2), bound_s + rtt_s / 2);
  }
}

// A thousandth of all packets, sent again, takes a thousandth more, and a last one that is lost a round trip.
TEST(BbrFlow, ALossOfAThousandthCostsAThousandth) {
  Case config = bbr_case(1e8, 0.01, 1);
  const double free_s = exchanged(config, "pair", 5e8).sync_time_s();
  config.network.tcp.loss = 5e-4;  // of a path of two links 1e-3
  const double lossy_s = exchanged(config, "pair", 5e8).sync_time_s();
  EXPECT_NEAR(lossy_s / free_s, 1.001, 0.0004);
  config.network.tcp.congestion_control = "cubic";
  EXPECT_GT(exchanged(config, "pair", 5e8).sync_time_s(), 1.5 * lossy_s);
}

// A loss may hold a message up by one round trip and a quarter, if it is of the last data; it is found by
// what follows it otherwise. Only a repair that is lost, one in a thousand, takes more. So the median of the
// late ones is at most 1.25 round trips.
TEST(BbrFlow, LossesHoldAMessageUpByARoundTrip) {
  const double rtt_s = 0.05;
  Case config = bbr_case(1e8, rtt_s, 1);
  const Replayed free = exchanged(config, "pair", 1e6, 40);
  config.network.tcp.loss = 5e-4;
  const Replayed lossy = exchanged(config, "pair", 1e6, 40);
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

}  // namespace longhaul::flow_closed_form_test
