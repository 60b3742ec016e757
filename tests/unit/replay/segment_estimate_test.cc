// Segments of a replay before it starts: those of messages and of others by hand, and beside what replays
// counted.
#include "replay/predict/segment_estimate.h"

#include <gtest/gtest.h>

#include "net/tcp/framing.h"
#include "net/topologies/registry.h"
#include "replay/predict/estimate.h"
#include "tests/unit/net/cases.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::segment_estimate_test {

constexpr double kRate = 1e8, kRtt_s = 0.06;
constexpr double kSegmentsPerSecond = kRate / 8 / 1538;  // that a link carries

// 3000 bytes are three segments of 1448; 750 on each of four connections are one. Two bytes are on two.
TEST(Segments, OfAMessageAreWholeOnEachConnection) {
  TcpSpec tcp;
  EXPECT_EQ(segments_of(24, 24 * 3000, tcp), 24 * 3);
  EXPECT_EQ(segments_of(1, 3 * 1448, tcp), 3);
  tcp.connections = 4;
  EXPECT_EQ(segments_of(24, 24 * 3000, tcp), 24 * 4);
  EXPECT_EQ(segments_of(1, 2, tcp), 2);
  EXPECT_EQ(segments_of(0, 0, tcp), 0);
}

Case linux_star(int replicas) {
  Case config = star_case(replicas, kRate, kRtt_s);
  config.network.fidelity = "linux";
  return config;
}

Trace exchanges(const Case& config, const std::string& collective, int segments) {
  OperationRule rule = rule_of(collective);
  rule.payload = whole({"delta"}, Wire::kBf16);
  return make_trace({{rule}}, {1, config.replicas, config.workload.steps, std::int64_t{segments} * 1448 / 2});
}

// A ring of four has 6 rounds in which each sends a quarter of 12 segments; nothing is lost on a fair star.
TEST(Segments, OfARingAreThoseThatTheReplayCounts) {
  const Case config = linux_star(4);
  const Trace trace = exchanges(config, "ring", 12);
  const ReplayEstimate expected = estimate(config, trace);
  const Replayed replayed = run_with(linux_replay, config, trace);
  EXPECT_EQ(expected.segments, 4 * 6 * 3);
  EXPECT_EQ(expected.segments_of_others, 0);
  EXPECT_EQ(replayed.report.at("segments"), 4 * 6 * 3);
  EXPECT_EQ(replayed.report.at("segments_again"), 0);
  EXPECT_EQ(replayed.report.at("segments_of_others"), 0);
}

// Connections of others that are always on.
BackgroundSpec flows_of_others(const std::string& link, Directions directions, int flows) {
  BackgroundSpec others;
  others.link = link;
  others.directions = directions;
  others.flows = flows;
  return others;
}

// One connection of others on each of two ways down. Each has its link for a second of compute. In an
// exchange of two rounds, each one message of 4 segments, it shares with one connection: the message takes
// the time of 8 segments and 30 ms, and others send at half of the rate.
TEST(Segments, OfOthersAreTheirShareOfTheLinks) {
  Case config = linux_star(2);
  config.network.variation.background = {flows_of_others("*", {false, true}, 1)};
  const double exchange_s = 2 * (8 / kSegmentsPerSecond + kRtt_s / 2);
  const auto expect_others = [&](double silent_s) {
    const ReplayEstimate expected = estimate(config, exchanges(config, "direct", 8));
    EXPECT_NEAR(expected.beside_others_s, silent_s + exchange_s, 1e-9);
    EXPECT_NEAR(static_cast<double>(expected.segments_of_others),
                2 * kSegmentsPerSecond * (silent_s + exchange_s / 2), 1);
  };
  expect_others(1);
  config.workload.step_time.seconds = 20;
  expect_others(20);
  // Over 20 s their windows are at the link's rate but for the first round trips.
  const ReplayEstimate expected = estimate(config, exchanges(config, "direct", 8));
  const Replayed replayed = run_with(linux_replay, config, exchanges(config, "direct", 8));
  EXPECT_NEAR(replayed.report.at("segments_of_others").get<double>() /
                  static_cast<double>(expected.segments_of_others),
              1, 0.05);
}

// Of one that is on for a quarter of the time a quarter; two share the link while replicas are silent.
TEST(Segments, OfOthersThatAreOnNowAndThen) {
  Case config = linux_star(2);
  BackgroundSpec others = flows_of_others("replica0-core", {true, false}, 2);
  others.on_s = 1;
  others.off_s = 3;
  config.network.variation.background = {others};
  const Topology topology = build_topology(config);
  const OtherTraffic traffic(config, topology);
  EXPECT_NEAR(traffic.segments_alone(10), 10 * kSegmentsPerSecond / 4, 1);
}

// A link that is down when training begins carries its own rate later: others count with that.
TEST(Segments, OfOthersOnALinkThatIsDownAtFirst) {
  Case config = linux_star(2);
  config.network.variation.background = {flows_of_others("replica0-core", {true, false}, 1)};
  Fault outage;
  outage.kind = "link";
  outage.times.for_s = 5;
  outage.link = "replica0-core";
  outage.rate = 0;
  config.network.variation.faults = {outage};
  const Topology topology = build_topology(config);
  EXPECT_NEAR(OtherTraffic(config, topology).segments_alone(10), 10 * kSegmentsPerSecond, 1);
}

}  // namespace longhaul::segment_estimate_test
