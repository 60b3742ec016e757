// The flow fidelity against closed forms on an idle star.
#include <gtest/gtest.h>
#include <ns3/simulator.h>

#include <cmath>

#include "net/collectives/collective.h"
#include "net/tcp/framing.h"
#include "net/topologies/registry.h"
#include "sim/network/clock.h"
#include "sim/network/flow_network.h"
#include "tests/unit/sim/replays.h"

namespace longhaul::flow_closed_form_test {

constexpr double kSegment = 1448, kWire = 1538, kAck = 90;

// A link of this rate carries `payload_rate` bit/s of payload.
double line_rate(double payload_rate) {
  return payload_rate * kWire / kSegment;
}

// Seconds that slow start loses against line rate: the rounds whose window is below the pipe, each of which
// lasts a round trip and sends what takes window / rate.
double slow_start_s(double bytes_per_s, double rtt_s) {
  double lost_s = 0;
  for (double window = 10 * kSegment; window < bytes_per_s * rtt_s; window *= 2)
    lost_s += rtt_s - window / bytes_per_s;
  return lost_s;
}

struct StartUp {
  double rate, rtt_s;
  double rounds, lost_s;  // as tabulated, to two digits
};

// When a cold connection's `bytes` arrive, with nothing else on the network.
double arrival_s(const Case& config, std::int64_t bytes) {
  const Topology topology = build_topology(config);
  FlowNetwork network(config.network.tcp, topology);
  const ClockScope scope{simulator_clock()};
  double arrived_s = -1;
  after(0, [&] { network.send({0, 1, bytes}, [&] { arrived_s = now_s(); }); });
  ns3::Simulator::Run();
  return arrived_s;
}

TEST(SlowStart, LosesTheTimesOfTheTable) {
  const StartUp table[] = {{1e8, 0.02, 5, 0.06},   {1e8, 0.1, 7, 0.55},   {1e8, 0.2, 8, 1.30},
                           {1e9, 0.02, 8, 0.13},   {1e9, 0.1, 10, 0.88},  {1e9, 0.2, 11, 1.96},
                           {1e10, 0.02, 11, 0.20}, {1e10, 0.1, 14, 1.21}, {1e10, 0.2, 15, 2.62}};
  for (const StartUp& row : table) {
    const double bytes_per_s = row.rate / 8, rate = line_rate(row.rate);
    const auto bytes = static_cast<std::int64_t>(20 * bytes_per_s * row.rtt_s);
    // The serialization of a segment is part of the round trip: taken off the delay, so that it is the
    // table's.
    const double delay_s = row.rtt_s - 2 * 8 * (kWire + kAck) / rate;
    const double lost_s = arrival_s(star_case(2, rate, delay_s), bytes) - bytes / bytes_per_s - row.rtt_s / 2;
    EXPECT_NEAR(lost_s, row.lost_s, 0.007) << row.rate << " bit/s, " << row.rtt_s << " s";
    EXPECT_NEAR(lost_s, slow_start_s(bytes_per_s, row.rtt_s), 0.01 * row.rtt_s);
  }
}

// Both directions busy: data has 1 / (1 + a) of the link, a = 90 / (2 · 1538) the share of acknowledgements.
double both_ways(double rate) {
  return rate / 8 * kSegment / kWire / (1 + kAck / (2 * kWire));
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
    const Replayed replayed =
        run_replay(star_case(2, rate, rtt_s), single_exchange("pair", 2, static_cast<std::int64_t>(bytes)));
    EXPECT_NEAR(replayed.sync_time_s(), expected, 2e-4) << products;
  }
}

// The second exchange comes after a second of compute, four time-outs. A host that keeps its window needs a
// latency and the bytes: one round trip is what the other one loses at least.
TEST(FlowPair, AWarmWindowOutlivesIdlingWhereTheHostSaysSo) {
  const double rate = 1e8, rtt_s = 0.05, bytes = std::floor(10 * rate / 8 * rtt_s);
  Case config = star_case(2, rate, rtt_s);
  const Trace trace = single_exchange("pair", 2, static_cast<std::int64_t>(bytes), 2);
  const double expected = rtt_s / 2 + bytes / both_ways(rate);
  EXPECT_GT(run_replay(config, trace).sync_time_s(2), expected + rtt_s);
  config.network.tcp.slow_start_after_idle = false;
  EXPECT_NEAR(run_replay(config, trace).sync_time_s(2), expected, 5e-4);
}

// W of three quarters of the path: what one window holds leaves at once, also after a second of silence.
TEST(FlowPair, AWindowOfTheScenarioStaysWarm) {
  const double rate = 1e8, rtt_s = 0.1;
  Case config = star_case(2, rate, rtt_s);
  config.network.tcp.window = 0.75 * rate / 8 * rtt_s;
  config.network.tcp.slow_start_after_idle = false;
  const std::int64_t bytes = 20 * static_cast<std::int64_t>(*config.network.tcp.window);
  const Replayed replayed = run_replay(config, single_exchange("pair", 2, bytes, 2));
  const double full_rtt_s = rtt_s + 2 * 8 * (kWire + kAck) / rate;
  // 19 windows of a round trip each, and the last one; paced or in a burst it is within a round trip.
  EXPECT_NEAR(replayed.sync_time_s(2), 19.5 * full_rtt_s + rtt_s / 2, 0.51 * full_rtt_s);
}

// Without round trips to wait for there is no start-up; what remains is the collective's own closed form.
TEST(FlowCollectives, FollowTheirClosedFormsWhenWindowsAreOpen) {
  const double rate = 1e8, rtt_s = 1e-4;
  for (const std::string name : {"ring", "tree", "halving-doubling"}) {
    const int members = 8;
    const std::int64_t bytes = 80000000;
    const double bytes_per_s = name == "tree" ? rate / 8 * payload_share(1448) : both_ways(rate);
    const double latency_s = rtt_s / 2 + 8 * kWire / rate;  // the core forwards the last segment
    const double expected = find_collective(name).idle_star_s({members, bytes, 1}, latency_s, bytes_per_s);
    const Replayed replayed =
        run_replay(star_case(members, rate, rtt_s), single_exchange(name, members, bytes));
    EXPECT_NEAR(replayed.sync_time_s() / expected, 1, 2e-3) << name;
  }
}

// A window of 250 kB at 100 ms carries 20 Mb/s however fast the link is; four connections four times that.
TEST(FlowCaps, WindowTimesConnectionsOverRoundTrip) {
  for (const int connections : {1, 4}) {
    Case config = star_case(2, 1e9, 0.1);
    config.network.tcp.window = 250000;
    config.network.tcp.connections = connections;
    const double seconds = 20;
    const auto bytes = static_cast<std::int64_t>(seconds * 250000 / 0.1 * connections);
    EXPECT_NEAR(run_replay(config, single_exchange("pair", 2, bytes)).sync_time_s(), seconds, 0.02 * seconds);
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
      const auto bytes = static_cast<std::int64_t>(windows * window * connections);
      const Trace trace = single_exchange("tree", 2, bytes);  // one message there, one back
      EXPECT_NEAR(run_replay(config, trace).sync_time_s() / (2 * expected), 1, 1e-3) << windows;
    }
}

// Oregon and Tokyo: 523 Mb/s a connection, 96 ms. The link of 10 Gb/s is no limit to the average, and what a
// window leaves at: after slow start one such window a round trip.
TEST(FlowCaps, OneConnectionBetweenRegionsHasTheMeasuredThroughput) {
  const Case config = regions_case("aws-2022", {{"oregon", 1}, {"tokyo", 1}});
  const double bytes_per_s = 523e6 / 8, rtt_s = 0.096, largest = bytes_per_s * rtt_s;
  const auto bytes = static_cast<std::int64_t>(20 * bytes_per_s);
  double left = static_cast<double>(bytes), rounds = 0;
  for (double window = 10 * kSegment; left > std::min(window, largest); window *= 2, ++rounds)
    left -= std::min(window, largest);
  const double expected = rounds * rtt_s + rtt_s / 2 + left / (1e10 / 8 * kSegment / kWire);
  EXPECT_NEAR(run_replay(config, single_exchange("pair", 2, bytes)).sync_time_s(), expected, 0.01);
}

TEST(FlowLinks, CountBytesWithHeadersInBothDirections) {
  const Replayed replayed = run_replay(star_case(2, 1e8, 0.05), single_exchange("pair", 2, 1448 * 10));
  EXPECT_NE(replayed.files.at("links.csv").find("replica0-core,forward,15380,"), std::string::npos);
  EXPECT_NE(replayed.files.at("links.csv").find("replica0-core,backward,15380,"), std::string::npos);
}

}  // namespace longhaul::flow_closed_form_test
