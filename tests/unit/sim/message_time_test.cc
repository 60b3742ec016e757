// Drawn message times in the replay: on a mesh it is the analytic fidelity event by event, on a star it adds
// the sharing of links and nothing else.
#include <gtest/gtest.h>

#include <algorithm>

#include "net/collectives/collective.h"
#include "net/tcp/framing.h"
#include "tests/support/idle_star.h"
#include "tests/unit/sim/replays.h"

namespace longhaul::message_time_test {

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

void expect_same_tables(Case config, const Trace& trace, const std::string& what) {
  for (const bool barrier : {false, true}) {
    config.network.barrier = barrier;
    config.network.fidelity = "flow";
    const Replayed without_events = walked(config, trace), replayed = run_replay(config, trace);
    for (const char* table : {"exchanges.csv", "breakdown.csv", "steps.csv", "replicas.csv", "links.csv"})
      EXPECT_EQ(without_events.files.at(table), replayed.files.at(table))
          << what << ' ' << table << ' ' << barrier;
    EXPECT_EQ(sorted_lines(without_events.files.at("schedule.jsonl")),
              sorted_lines(replayed.files.at("schedule.jsonl")))
        << what;
    EXPECT_EQ(without_events.report["transfers"], replayed.report["transfers"]);
    EXPECT_EQ(without_events.report["simulated_s"], replayed.report["simulated_s"]);
  }
}

Case random_steps(int replicas, double mean_s, double std_s) {
  Case config = drawn_case(replicas, mean_s, std_s);
  config.workload.step_time.kind = StepTime::Kind::kLognormal;
  config.workload.step_time.sigma = 0.5;
  return config;
}

TEST(MessageTimes, ReplayAndAnalyticGiveTheSameTables) {
  for (const std::string& name : all_reduce_collectives()) {
    if (find_collective(name).needs_sites()) continue;
    expect_same_tables(random_steps(7, 0.3, 0.4), make_trace({{rule_of(name, 3)}}, {1, 7, 12, 10000}), name);
  }
  for (const std::string name : {"pair", "root", "serial"}) {
    OperationRule rule = rule_of(name, 2, 2);
    rule.payload = whole({"delta", "phi"}, Wire::kInt8);
    expect_same_tables(random_steps(8, 0.3, 0.4), make_trace({{rule}}, {1, 8, 12, 10000}), name);
  }
}

TEST(MessageTimes, OverlappedExchangesToo) {
  OperationRule outer = rule_of("pair", 2, 2), ahead = rule_of("pair", 2, 2);
  ahead.name = "ahead";
  ahead.overlap_steps = 2;
  const Trace trace = make_trace({{outer, ahead}}, {1, 8, 20, 10000});
  expect_same_tables(random_steps(8, 1, 1.5), trace, "late");
  expect_same_tables(random_steps(8, 0.01, 0.01), trace, "in time");
}

TEST(MessageTimes, ExchangesInARowAndBucketsToo) {
  OperationRule first = rule_of("halving-doubling", 2), second = rule_of("ring", 2);
  second.name = "second";
  second.overlap_backward = 0.7;
  second.buckets = 5;
  const Trace trace = make_trace({{first, second}}, {1, 6, 12, 10000});
  expect_same_tables(random_steps(6, 0.3, 0.4), trace, "longer than a step");
  expect_same_tables(random_steps(6, 0.01, 0.02), trace, "shorter");
}

// Replica 2 is ready 9 s after 0 and 1, whose messages in the ring are held back with the barrier.
TEST(Barrier, NothingTravelsBeforeAllAreReady) {
  Case config = drawn_case(3, 20, 0);
  config.workload.step_time.kind = StepTime::Kind::kMeasured;
  Trace trace = single_exchange("leaf-tree", 3, 3000);
  trace.measured_s = {{1, 1, 10}};
  for (const char* fidelity : {"flow", "analytic"}) {
    config.network.fidelity = fidelity;
    const Replayed replayed = run_replay(config, trace);
    EXPECT_DOUBLE_EQ(replayed.sync_time_s(), 4 * 20) << fidelity;
    EXPECT_DOUBLE_EQ(replayed.row(1, 0).ready_s, 1) << fidelity;
  }
}

// A parent's link carries the vectors of two children in the time of two.
TEST(MessageTimes, OnAStarTwoChildrenShareTheirParentsLink) {
  Case config = drawn_case(3, 1, 0);
  config.network.topology = star_spec(1e9, 1e9, 0);
  config.network.fidelity = "flow";
  EXPECT_NEAR(exchanged(config, "heap-tree", 1000).sync_time_s(), 4, 0.04);
  config.replicas = 2;
  EXPECT_NEAR(exchanged(config, "pair", 1000).sync_time_s(), 1, 0.01);
}

// One way at a time in the full heap. In the tree of leaves members receive while they send.
TEST(FlowCollectives, TreesWhoseChildrenShareALinkFollowTheirClosedForms) {
  const double rate = 1e8, rtt_s = 1e-4, one_way = rate / 8 * payload_share(1448);
  const double latency_s = rtt_s / 2 + 8 * (1448. + kHeaderBytes) / rate;
  // Of its closed form at a rate.
  const auto share_of = [&](double bytes_per_s, const std::string& name, int members) {
    return exchanged(star_case(members, rate, rtt_s), name, 2e7).sync_time_s() /
           idle_star_s(name, {members, 20000000, 1}, latency_s, bytes_per_s);
  };
  EXPECT_NEAR(share_of(one_way, "heap-tree", 7), 1, 2e-3);
  for (const int members : {2, 4, 8}) EXPECT_GE(share_of(one_way, "leaf-tree", members), 1 - 2e-3) << members;
  const double slowest = one_way / (1 + ack_share(1448));
  for (const int members : {2, 3, 4, 5, 6, 7, 8, 11})
    EXPECT_LE(share_of(slowest, "leaf-tree", members), 1 + 2e-3) << members;
  for (const int members : {3, 5, 6, 7, 11})
    EXPECT_LE(share_of(slowest, "heap-tree", members), 1 + 2e-3) << members;
}

}  // namespace longhaul::message_time_test
