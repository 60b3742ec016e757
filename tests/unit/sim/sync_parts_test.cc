// Where the time of a synchronization goes: against closed forms on the open star, where window effects are
// out of reach and headers and acknowledgements are 0.2 % of a link; and that the parts of every replica add
// up to its synchronization, on random stars, collectives, queues, step times.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "net/collectives/collective.h"
#include "tests/unit/sim/replays.h"

namespace longhaul::sync_parts_test {

double alone_s(double bytes, double rate = kRate, int segment = kSegment) {
  return 8 * bytes / (rate * payload_share(segment));
}

// The parts of every replica add up to its synchronization.
std::vector<BreakdownRow> summed(const Replayed& replayed) {
  const std::vector<BreakdownRow> rows = breakdown_of(replayed);
  EXPECT_EQ(rows.size(), replayed.exchanges.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ExchangeRecord& times = replayed.exchanges[i];
    EXPECT_EQ(rows[i].replica, times.replica);
    EXPECT_NEAR(rows[i].total_s(), times.done_s - times.start_s, 1e-9)
        << "step " << times.step << ", replica " << times.replica << ", " << times.exchange;
  }
  return rows;
}

void expect_parts(const BreakdownRow& row, double bytes_s, double latency_s, double sharing_s) {
  const double total_s = bytes_s + latency_s + sharing_s;
  EXPECT_NEAR(row.of("bytes"), bytes_s, 1e-6 * total_s);
  EXPECT_NEAR(row.of("latency"), latency_s, 1e-6 * total_s);
  EXPECT_NEAR(row.of("sharing"), sharing_s, 3e-3 * total_s);
  EXPECT_NEAR(row.of("startup"), 0, 1e-9);
  EXPECT_EQ(row.of("congestion"), 0);
  EXPECT_EQ(row.of("waiting"), 0);
}

TEST(SyncParts, ARingIsTwoTimesNLessOneMessagesOfAnNth) {
  for (const int members : {2, 3, 8, 16}) {
    const double bytes = 8. * kSegment * members, messages = 2 * (members - 1);
    for (const BreakdownRow& row : breakdown_of(exchanged(open_star(members), "ring", bytes)))
      expect_parts(row, messages / members * alone_s(bytes), messages * kLatency, 0);
  }
}

TEST(SyncParts, ATreeIsAWholeVectorAndALatencyALevel) {
  for (const int levels : {1, 2, 3, 4}) {
    const double bytes = 20. * kSegment;
    expect_parts(last_one(exchanged(open_star(1 << levels), "tree", bytes)), 2 * levels * alone_s(bytes),
                 2 * levels * kLatency, 0);
  }
}

// Two members send to the server, whose way down is theirs by halves; then it sends to both.
TEST(SyncParts, OfTwoMessagesOverOneLinkHalfTheTimeIsSharing) {
  const double bytes = 40. * kSegment;
  expect_parts(last_one(exchanged(open_star(3), "parameter-server", bytes)), 2 * alone_s(bytes), 2 * kLatency,
               2 * alone_s(bytes));
}

// 150 segments leave as 10, 20, 40 and 80, a round trip apart, and the path holds more than 800. Both
// directions are busy in the same bursts, so that each has 1 / (1 + 90 / (2 · 1538)) of its link: 90 / 3076
// of the last burst is sharing, and of those before nothing, because their senders wait for the round trip
// anyway.
TEST(SyncParts, SlowStartIsStartUpButForItsBytes) {
  constexpr double kLongRtt = 0.1, kWire = 1538, kAck = 90, kPayload = 1448;
  const Case config = star_case(2, kRate, kLongRtt);
  const double segment_s = 8 * kWire / kRate;
  const double rtt_s = kLongRtt + 2 * segment_s + 2 * 8 * kAck / kRate;
  for (const BreakdownRow& row : breakdown_of(exchanged(config, "pair", 150 * kPayload))) {
    EXPECT_NEAR(row.of("bytes"), alone_s(150 * kPayload, kRate, 1448), 3e-9);
    EXPECT_NEAR(row.of("latency"), kLongRtt / 2 + segment_s, 3e-9);
    EXPECT_NEAR(row.of("startup"), 3 * rtt_s - 70 * segment_s, 1e-8);
    EXPECT_NEAR(row.of("sharing"), 80 * segment_s * kAck / (2 * kWire), 1e-8);
    EXPECT_EQ(row.of("congestion"), 0);
  }
}

// A window of 125 kB a round trip of 100 ms is 10 Mb/s: the path alone would give no more. So waiting with
// that window is part of the path; before it four rounds of slow start, after it what is left at the link's
// rate, beside acknowledgements of the other direction.
TEST(SyncParts, AWindowThatTheScenarioGivesIsPartOfThePath) {
  const double segment_s = 8 * 1538 / kRate, rtt_s = 0.1 + 2 * segment_s + 2 * 8 * 90 / kRate;
  for (const int connections : {1, 4}) {
    Case config = star_case(2, kRate, 0.1);
    config.network.tcp.window = 125000;
    config.network.tcp.connections = connections;
    const double window = 125000. * connections, started = 15 * 10 * 1448. * connections;
    const double rounds = std::floor((12500000 - started) / window);
    const double last_s = alone_s(12500000 - started - rounds * window, kRate, 1448);
    const BreakdownRow row = last_one(exchanged(config, "pair", 12500000));
    EXPECT_NEAR(row.of("bytes"), alone_s(started, kRate, 1448) + rounds * rtt_s + last_s, 1e-6);
    EXPECT_NEAR(row.of("sharing"), last_s * 90 / (2 * 1538), 1e-6);
    EXPECT_NEAR(row.of("startup"), 4 * rtt_s - alone_s(started, kRate, 1448), 1e-6);
  }
}

// Its way up is a quarter as fast and always busy: six chunks, one latency. The chain of the one behind it
// goes once more around the ring while they are sent, which takes four latencies off these bytes, and no
// more. That its own links are idle most of the time is no waiting.
TEST(SyncParts, ASlowLinkInARingShowsAsBytesAndNotAsWaiting) {
  Case config = open_star(4);
  config.network.overrides = {up_of(2, kRate / 4)};
  const double chunk_s = alone_s(16. * kSegment, kRate / 4);
  const BreakdownRow behind = breakdown_of(exchanged(config, "ring", 4. * 16 * kSegment)).at(3);
  EXPECT_GT(behind.of("bytes"), 6 * chunk_s - 5 * kLatency);
  EXPECT_LT(behind.of("bytes"), 6 * chunk_s);
  EXPECT_EQ(behind.of("waiting"), 0);
}

// Replica 1 comes four seconds later than the others of a tree, two levels of which have gone ahead by then.
// What lies before its start is nobody's; after it all follow its chain: two messages up, three down.
TEST(SyncParts, WhatLiesBeforeTheLastIsReadyDoesNotCount) {
  Case config = open_star(8);
  config.workload.step_time_factors = {1, 5, 1, 1, 1, 1, 1, 1};
  const Replayed replayed = exchanged(config, "tree", 20. * kSegment);
  for (const ExchangeRecord& times : replayed.exchanges) EXPECT_DOUBLE_EQ(times.start_s, 5);
  for (const BreakdownRow& row : summed(replayed)) {
    const double messages = std::round(row.of("latency") / kLatency);
    EXPECT_NEAR(row.of("latency"), messages * kLatency, 1e-6);
    EXPECT_NEAR(row.of("bytes"), messages * alone_s(20. * kSegment), 1e-6);
    EXPECT_EQ(row.of("waiting"), 0) << "for replica 1 nobody waits after it has started";
  }
}

// A small all-reduce is over before the large vectors that were sent a step earlier: whoever waits for these
// goes on when they are there.
TEST(SyncParts, WhatWasSentAheadAndIsMissingIsWaiting) {
  OperationRule outer = rule_of("ring"), ahead = rule_of("pair", 1, 2);
  ahead.name = "ahead";
  ahead.overlap_steps = 1;
  ahead.payload = whole({"a", "b", "c", "d", "e", "f", "g", "h"}, Wire::kInt8);
  Case config = open_star(6);
  config.workload.step_time.seconds = 0.01;
  Trace trace = make_trace({{outer, ahead}}, {1, 6, 6, 30 * kSegment});
  for (auto& [key, groups] : trace.groups) groups = {{0, 3}, {1, 4}, {2, 5}};  // no neighbours in the ring
  const Replayed replayed = run_replay(config, trace);
  int waits = 0;
  for (const BreakdownRow& row : summed(replayed)) {
    if (row.exchange != "outer" || row.of("waiting") == 0) continue;
    EXPECT_EQ(replayed.row(row.step, row.replica).done_s,
              replayed.row(row.step - 1, row.replica, "ahead").done_s);
    ++waits;
  }
  EXPECT_GT(waits, 0);
}

TEST(SyncParts, DrawnMessageTimesAreOnePart) {
  Case config = drawn_case(8, 0.2, 0.1);
  const Trace trace = make_trace({{rule_of("leaf-tree")}}, {1, 8, 3, 2000});
  for (const std::string fidelity : {"analytic", "flow"}) {
    config.network.fidelity = fidelity;
    const std::vector<BreakdownRow> rows = summed(run_replay(config, trace));
    ASSERT_EQ(rows.size(), 24u);
    for (const BreakdownRow& row : rows)
      EXPECT_NEAR(row.of("message") + row.of("waiting"), row.total_s(), 1e-9);
  }
}

TEST(SyncParts, PacketsHaveBytesLatencyAndARest) {
  Case config = star_case(2, 1e8, 0.05);
  config.network.fidelity = "packet";
  const BreakdownRow row = summed(exchanged(config, "pair", 1448000)).at(0);
  EXPECT_NEAR(row.of("bytes"), alone_s(1448000, 1e8, 1448), 1e-9);
  EXPECT_NEAR(row.of("latency"), 0.025 + 8 * 1538 / 1e8, 1e-9);
  EXPECT_GT(row.of("rest"), 0.05) << "slow start";
}

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}

  int pick(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
  bool flip() { return pick(0, 1) == 1; }
  double log_between(double low, double high) {
    return low * std::pow(high / low, std::uniform_real_distribution<double>(0, 1)(random_));
  }
  template <typename T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(pick(0, static_cast<int>(all.size()) - 1))];
  }

 private:
  std::mt19937_64 random_;
};

Case draw_case(Draws& draws) {
  Case config = star_case(draws.pick(2, 9), draws.log_between(2e7, 5e8), draws.log_between(1e-3, 0.2));
  TcpSpec& tcp = config.network.tcp;
  tcp.queue = draws.one_of<std::string>({"host", "fq_codel"});
  tcp.congestion_control = draws.one_of<std::string>({"cubic", "reno"});
  tcp.connections = draws.pick(1, 4);
  tcp.ecn = tcp.queue == "fq_codel" && draws.flip();
  if (draws.pick(0, 3) == 0) tcp.loss = 1e-4;
  if (draws.pick(0, 3) == 0) tcp.window = draws.log_between(2e4, 2e6);
  config.seed = static_cast<std::uint64_t>(draws.pick(1, 1000));
  config.network.barrier = draws.pick(0, 3) == 0;
  config.workload.step_time.kind = StepTime::Kind::kLognormal;
  config.workload.step_time.mu = std::log(0.3);
  config.workload.step_time.sigma = draws.flip() ? 1 : 0;
  for (int replica = 0; draws.flip() && replica < config.replicas; replica += 2) {
    config.network.overrides.push_back(up_of(replica, draws.log_between(1e7, 1e8)));
    config.network.overrides.back().delay = draws.log_between(1e-3, 0.05);
  }
  return config;
}

OperationPlan draw_plan(Draws& draws) {
  std::vector<std::string> collectives = {"pair", "root", "serial"};
  for (const std::string& name : all_reduce_collectives())
    if (!find_collective(name).needs_sites()) collectives.push_back(name);
  OperationRule outer = rule_of(draws.one_of(collectives), draws.pick(1, 2));
  if (outer.collective == "pair" || outer.collective == "root" || outer.collective == "serial") {
    outer.grouping = Grouping::kRandom;
    outer.group_size = 2;
    outer.payload = whole({"delta", "phi"}, Wire::kInt8);
  } else if (draws.flip()) {
    outer.overlap_backward = 0.5;
    outer.buckets = draws.pick(2, 4);
  }
  OperationPlan plan{{outer}};
  if (draws.flip()) {
    OperationRule ahead = rule_of("ring", outer.every);
    ahead.name = "ahead";
    ahead.overlap_steps = 1;
    plan.rules.push_back(ahead);
  }
  return plan;
}

// Five steps of a plan: the sum of each row to 1e-9; the seconds of congestion and of sharing in them.
std::pair<double, double> expect_sums(const Case& config, const OperationPlan& plan,
                                      std::int64_t parameters) {
  const std::string& all_reduce = plan.rules[0].collective;
  SCOPED_TRACE(fmt::format("{} of {}, queue {}", all_reduce, config.replicas, config.network.tcp.queue));
  const Trace trace = make_trace(plan, {config.seed, config.replicas, 5, parameters});
  std::pair<double, double> seconds{0, 0};
  for (const BreakdownRow& row : summed(run_replay(config, trace))) {
    for (const auto& [part, part_s] : row.parts) EXPECT_GE(part_s, -2e-9) << part;
    seconds.first += row.of("congestion");
    seconds.second += row.of("sharing");
  }
  return seconds;
}

TEST(SyncPartsSum, IsTheSyncTimeWhateverTheNetwork) {
  double shared_s = 0, congested_s = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Draws draws(seed);
    const Case config = draw_case(draws);
    const OperationPlan plan = draw_plan(draws);
    const auto parameters = static_cast<std::int64_t>(draws.log_between(1e3, 5e6));
    const auto [congestion_s, sharing_s] = expect_sums(config, plan, 2 * parameters);
    if (config.network.tcp.queue == "host" && config.network.tcp.loss == 0) {
      EXPECT_EQ(congestion_s, 0);
    }
    congested_s += congestion_s;
    shared_s += sharing_s;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(congested_s, 1);
  EXPECT_GT(shared_s, 1);
}

TEST(SyncPartsSum, OfAnalyticToo) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Draws draws(seed);
    Case config = draw_case(draws);
    config.network.fidelity = "analytic";
    const auto [congestion_s, sharing_s] = expect_sums(config, draw_plan(draws), 200000);
    EXPECT_EQ(congestion_s + sharing_s, 0) << "messages do not know of each other";
  }
}

}  // namespace longhaul::sync_parts_test
