// Networks that change with time, against hand calculations. Where nothing else is said round trips are so
// short that no window matters.
#include <gtest/gtest.h>

#include "net/tcp/framing.h"
#include "tests/support/files.h"
#include "tests/support/said.h"
#include "tests/unit/sim/replays.h"
#include "tests/unit/sim/transfers.h"

namespace longhaul::flow_variation_test {

constexpr double kRate = 1e8, kShortRtt_s = 1e-4;

Case short_star(int replicas = 2) {
  return star_case(replicas, kRate, kShortRtt_s);
}

Case traced(const std::vector<TraceSpec>& traces, Case config = short_star()) {
  config.network.variation.traces = traces;
  return config;
}

class FlowVariationTest : public testing::Test {
 protected:
  TraceSpec trace(const std::string& link, const std::string& rows, Directions directions = {}) {
    TraceSpec spec;
    spec.link = link;
    spec.file = folder_.file(std::to_string(count_++) + ".csv");
    write_text(spec.file, "time_s,rate_bps,delay_s\n" + rows);
    spec.directions = directions;
    return spec;
  }
  TraceSpec repeated(const std::string& link, const std::string& rows, double period_s) {
    TraceSpec spec = trace(link, rows);
    spec.repeats = true;
    spec.period_s = period_s;
    return spec;
  }

 private:
  const TemporaryFolder folder_;
  int count_ = 0;
};

// Payload of so many seconds of a link of kRate.
double bytes_of(double seconds) {
  return seconds * kRate / 8 * payload_share(1448);
}

// Propagation, and the last segment once more.
constexpr double kArrival_s = 4e-4;

Fault link_fault(const std::string& link, double rate, double at_s, double for_s) {
  Fault fault;
  fault.link = link;
  fault.rate = rate;
  fault.times = {at_s, 0, for_s};
  return fault;
}

TEST_F(FlowVariationTest, RatesAreThoseOfTracesAndFaultsAtTheMoment) {
  const Case halved = traced({trace("replica0-core", "2,5e7,\n")});
  // 3 s of payload: 2 s of it at the whole rate, the third one in 2 s.
  EXPECT_NEAR(arrival_s(halved, bytes_of(3)), 4, kArrival_s);
  EXPECT_NEAR(arrival_s(halved, bytes_of(3), 1), 1 + 1 + 4, kArrival_s);
  EXPECT_NEAR(arrival_s(halved, bytes_of(3), 7), 7 + 6, kArrival_s);
  // 1 s whole, half a second half, half a second nothing: 5/8 of the rate, over 20 periods.
  const Case periodic = traced({repeated("replica1-core", "0,1e8,\n1,5e7,\n1.5,0,\n", 2)});
  EXPECT_NEAR(arrival_s(periodic, bytes_of(25)), 40 - 0.5, kArrival_s) << "the last outage is not waited for";
  Case faulty = traced({trace("replica0-core", "0,5e7,\n")});
  faulty.network.variation.faults = {link_fault("replica0-core", 0.5, 0, 1e6)};
  EXPECT_NEAR(arrival_s(faulty, bytes_of(1)), 4, kArrival_s) << "half of the half";
}

// A fault is the outage or the slower link that a trace would say.
TEST_F(FlowVariationTest, AFaultOfALinkIsTheTraceThatSaysSo) {
  for (const double rate : {0., 0.25})
    for (const std::string link : {"replica0-core", "replica1-core"}) {
      Case faulty = short_star();
      faulty.network.variation.faults = {link_fault(link, rate, 1, 2)};
      const Case expected = traced({trace(link, rate == 0 ? "1,0,\n3,1e8,\n" : "1,2.5e7,\n3,1e8,\n")});
      for (const double sent_s : {0., 2.5})
        EXPECT_EQ(arrival_s(faulty, bytes_of(3), sent_s), arrival_s(expected, bytes_of(3), sent_s))
            << link << rate << " " << sent_s;
    }
}

Fault losing(double loss, double at_s, double for_s) {
  Fault fault = link_fault("*", 1, at_s, for_s);
  fault.loss = loss;
  return fault;
}

// All links lose packets all the time: that is the loss that the network has by itself.
TEST_F(FlowVariationTest, AFaultThatLosesPacketsIsTheLossOfTheLinks) {
  for (const double loss : {1e-5, 1e-4, 1e-3})
    for (const int connections : {1, 4}) {
      Case lossy = star_case(2, kRate, 0.05);
      lossy.network.tcp.connections = connections;
      Case faulty = lossy, both = lossy;
      lossy.network.tcp.loss = loss;
      faulty.network.variation.faults = {losing(loss, 0, 1e6)};
      EXPECT_EQ(arrival_s(faulty, bytes_of(5)), arrival_s(lossy, bytes_of(5))) << loss << " " << connections;
      both.network.variation.faults = {losing(loss, 0, 1e6), losing(loss, 0, 1e6)};
      lossy.network.tcp.loss = 1 - (1 - loss) * (1 - loss);
      EXPECT_EQ(arrival_s(both, bytes_of(5)), arrival_s(lossy, bytes_of(5))) << "two faults";
    }
}

TEST_F(FlowVariationTest, PacketsAreLostWhileAFaultLasts) {
  Case config = star_case(2, kRate, 0.05), never = config;
  config.network.variation.faults = {losing(0.01, 10, 10)};
  never.network.variation.faults = {losing(0.01, 1e6, 1)};
  for (const double sent_s : {0., 30.})
    EXPECT_EQ(arrival_s(config, bytes_of(1), sent_s), arrival_s(never, bytes_of(1), sent_s)) << sent_s;
  EXPECT_GT(arrival_s(config, bytes_of(1), 10), arrival_s(never, bytes_of(1), 10) + 1);
  // Half of it is over when the fault begins.
  const double half_s = arrival_s(config, bytes_of(1), 9.5);
  EXPECT_GT(half_s, arrival_s(never, bytes_of(1), 9.5));
  EXPECT_LT(half_s - 9.5, arrival_s(config, bytes_of(1), 10) - 10);
}

TEST_F(FlowVariationTest, AnOutageOfTwoSecondsAddsTwoSeconds) {
  const double without_s = arrival_s(short_star(), bytes_of(3));
  for (const std::string link : {"replica0-core", "replica1-core"}) {
    const Directions back = {link == "replica1-core", link != "replica1-core"};
    for (const Directions directions : {Directions(), back})
      EXPECT_NEAR(arrival_s(traced({trace(link, "1,0,\n3,1e8,\n", directions)}), bytes_of(3)) - without_s, 2,
                  1e-8)
          << link << directions.forward << directions.backward;
  }
  const Case config = traced({trace("replica0-core", "0,0,\n2,1e8,\n")});
  EXPECT_NEAR(arrival_s(config, bytes_of(3), 1) - without_s, 2, 1e-8) << "sent in the middle of it";
}

// Acknowledgements of what went out before it arrive while it lasts.
TEST_F(FlowVariationTest, AnOutageInSlowStartAddsAtMostARoundTripLess) {
  const double rtt_s = 0.2;
  for (const double begin_s : {0.0, 0.05, 0.1, 0.25, 0.43, 0.7, 1.1}) {
    const Case without = star_case(2, kRate, rtt_s);
    const std::string rows = fmt::format("{},0,\n{},1e8,\n", begin_s, begin_s + 2);
    const double added_s = arrival_s(traced({trace("replica0-core", rows)}, without), bytes_of(1)) -
                           arrival_s(without, bytes_of(1));
    EXPECT_LE(added_s, 2 + 1e-3) << begin_s;
    EXPECT_GE(added_s, 2 - rtt_s - 0.01) << begin_s;
  }
}

// A trace that holds from the beginning makes the network that has these rates and delays itself.
TEST_F(FlowVariationTest, ATraceFromTheBeginningIsAnotherNetwork) {
  for (const double rtt_s : {0.01, 0.1, 0.3})
    for (const double rate : {2e7, 1e9}) {
      const std::string row = "0," + std::to_string(rate) + "," + std::to_string(rtt_s / 4) + "\n";
      const Case config = traced({trace("*", row)}, star_case(2, kRate, 0.05));
      for (const double bytes : {1e3, 1e5, 1e6, 2e7})
        EXPECT_NEAR(arrival_s(config, bytes), arrival_s(star_case(2, rate, rtt_s), bytes), 2e-8)
            << rtt_s << ' ' << rate << ' ' << bytes;
    }
}

// One segment: 50 ms one way, then 25 ms and 40 ms. Two windows of 10 and 20 segments: the second one goes
// out a round trip later, of 50 ms there and 25 ms longer back.
TEST_F(FlowVariationTest, ADelayChangesInOneDirectionAndIsPartOfTheRoundTrip) {
  const Case slow = star_case(2, kRate, 0.1), fast = star_case(2, 1e10, 0.1);
  const Case later = traced({trace("replica0-core", "1,,0.04\n", {true, false})}, slow);
  const double segment_s = 2 * 8 * 1538 / kRate, before_s = arrival_s(fast, 30 * 1448);
  EXPECT_NEAR(arrival_s(later, 1448), 0.05 + segment_s, 1e-8);
  EXPECT_NEAR(arrival_s(later, 1448, 1), 1 + 0.04 + 0.025 + segment_s, 1e-8);
  EXPECT_NEAR(before_s, 0.1 + 0.05, 1e-4);
  const Case longer = traced({trace("replica0-core", "0,,0.05\n", {false, true})}, fast);
  EXPECT_NEAR(arrival_s(longer, 30 * 1448) - before_s, 0.025, 1e-8);
}

// One that is on half of the time leaves 3/4 on average; 2000 cycles make that good to a few per cent.
TEST_F(FlowVariationTest, CrossFlowsTakeTheirMaxMinShare) {
  Case config = short_star();
  config.network.variation.background = {{"replica0-core", {true, false}, "", "", 1, {}, {}, {}, {}}};
  BackgroundSpec& traffic = config.network.variation.background[0];
  EXPECT_NEAR(arrival_s(config, bytes_of(3)), 6, kArrival_s) << "half";
  traffic.flows = 3;
  EXPECT_NEAR(arrival_s(config, bytes_of(3)), 12, kArrival_s) << "a quarter";
  config.network.tcp.connections = 3;
  EXPECT_NEAR(arrival_s(config, bytes_of(3)), 6, kArrival_s) << "three of six connections";
  config.network.tcp.connections = 1;
  traffic = {"replica0-core", {}, "", "", 1, {}, {}, 0.1, 0.1};
  EXPECT_NEAR(arrival_s(config, bytes_of(300)) / 400, 1, 0.03);
}

// Everything at once. Round trips are a thousandth of the drawn ones, so that windows cover their paths: a
// channel in slow start takes acknowledgements when it is looked at, and how often it is looked at is what
// differs here.
TEST_F(FlowVariationTest, TouchedAndWholeGiveTheSameCompletionTimes) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 100; ++trial) {
    SCOPED_TRACE(trial);
    const RandomStars stars = draw_stars(random, trial, 1000);
    VariationSpec spec;
    if (trial % 3) spec.jitter = {0.3, 0.2, 0.03};
    if (trial % 4) spec.traces = {repeated("replica0-*", "0.1,0,\n0.15,3e7,0.00002\n0.3,8e7,\n", 0.4)};
    spec.background = {{"*", {}, "", "", {}, {}, 0.3, 0.05, 0.05},
                       {"replica1-*", {}, "", "", 2, {}, {}, 0.05, 0.05}};
    ASSERT_NO_FATAL_FAILURE(expect_touched_as_whole(stars, 1e-7, [&](FlowNetwork& network) {
      network.vary(std::make_unique<Variation>(spec, stars.topology, 1));
    }));
  }
}

// Changes that never end do not keep a replay alive in which nobody can go on; nor do two outages that take
// turns, so that the links are never open at the same time.
TEST_F(FlowVariationTest, AnOutageWithoutEndIsADeadlock) {
  Case config =
      traced({trace("replica2-core", "1.5,0,\n"), repeated("replica3-core", "0.2,0,\n0.3,1e8,\n", 1)},
             short_star(4));
  config.network.variation.jitter = {0.2, 0.2, 0.01};
  const auto error_of = [](const Case& config, const Trace& trace) {
    return said_by([&] { run_replay(config, trace); });
  };
  const std::string error = error_of(config, single_exchange("ring", 4, 100000000));
  EXPECT_SAYS(error, "ran out of events");
  EXPECT_SAYS(error, "replica 3 in round");
  EXPECT_SAYS(error, "ends with rate_bps 0, so that nothing is carried from 1.5 s on") << error;
  const Case turns = traced(
      {repeated("replica0-core", "0,0,\n0.5,1e8,\n", 1), repeated("replica1-core", "0,1e8,\n0.5,0,\n", 1)});
  EXPECT_SAYS(error_of(turns, single_exchange("pair", 2, 1000)), "ran out of events");
}

TEST_F(FlowVariationTest, NothingIsAnEventWhileNobodySends) {
  Case config = traced({repeated("*", "0,2e8,\n0.001,1e8,\n", 0.002)});
  config.workload.step_time.seconds = 1e6;
  config.network.variation.jitter = {0.2, 0.2, 0.001};
  const Replayed replayed = exchanged(config, "pair", 1000, 3);
  EXPECT_LT(replayed.report["events"].get<int>(), 100);
  EXPECT_GT(simulated_s(replayed), 3e6);
}

// Seconds of a pair's exchange of 10 MB each way, in packets; in flow it is the same to within `tolerance`.
// It begins after a second of compute.
double expect_packets_take_as_long(const TraceSpec& trace, double tolerance) {
  return expect_flow_as_packets(traced({trace}, star_case(2, kRate, 0.05)), "pair", 1e7, tolerance,
                                trace.link);
}

// 40 and 100 Mb/s in turns of half a second; a fifth of the rate until one second into the exchange; a delay.
TEST_F(FlowVariationTest, PacketsUnderATraceTakeAsLong) {
  EXPECT_GT(expect_packets_take_as_long(repeated("replica0-core", "0,1e8,\n0.5,4e7,\n", 1), 0.05),
            10e6 / (kRate / 8) * 1.3)
      << "the trace costs something";
  EXPECT_GT(expect_packets_take_as_long(trace("*", "0,2e7,\n2,1e8,\n"), 0.1),
            1 + (10e6 - 2.5e6) / (kRate / 8));
  expect_packets_take_as_long(trace("replica0-core", "1.6,,0.05\n"), 0.05);
}

}  // namespace longhaul::flow_variation_test
