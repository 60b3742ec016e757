// An all-reduce that overlaps with the backward pass, against closed forms on an idle star.
//
// With a step of 1 s of which the last f are backward, bucket i of b is released at 1 - f (1 - i/b). Buckets
// are reduced one after another and each takes t, so that the last one is done at
// max(1 - f + f/b + b t, 1 + t): either the network is busy from the first bucket on, or it waits for the
// last. The star has no window effects (tests/unit/sim/replays.h).
#include <gtest/gtest.h>

#include "tests/support/idle_star.h"
#include "tests/unit/sim/replays.h"

namespace longhaul::overlap_test {

double bucket_s(const std::string& collective, std::int64_t bytes) {
  return idle_star_s(collective, {4, bytes, 1, {}}, kLatency, kBytesPerSecond);
}

Trace overlapping(const std::string& collective, int members, std::int64_t bytes, double overlap, int buckets,
                  int steps = 1) {
  OperationRule rule = rule_of(collective);
  rule.overlap_backward = overlap;
  rule.buckets = buckets;
  return make_trace({{rule}}, {1, members, steps, bytes});
}

TEST(OverlapWithBackward, EndsWithTheNetworkOrWithTheLastBucket) {
  int busy = 0, waiting = 0;
  for (const std::string collective : {"ring", "tree", "halving-doubling"})
    for (const double overlap : {0.25, 2. / 3, 1.})
      for (const int buckets : {1, 4, 8})
        for (const int segments : {1, 8}) {  // of a chunk of a quarter
          const std::int64_t bucket = std::int64_t{kSegment} * 4 * segments;
          const double t = bucket_s(collective, bucket);
          const double expected = std::max(1 - overlap + overlap / buckets + buckets * t, 1 + t);
          ++(expected > 1 + t ? busy : waiting);
          const Replayed replayed =
              run_replay(open_star(4), overlapping(collective, 4, bucket * buckets, overlap, buckets));
          const ExchangeRecord& row = replayed.row(1, 0);
          EXPECT_NEAR(row.done_s, expected, 4e-3 * buckets * t)
              << collective << ", overlap " << overlap << ", buckets " << buckets << " of " << segments;
          EXPECT_DOUBLE_EQ(row.ready_s, 1);
          EXPECT_DOUBLE_EQ(row.start_s, 1);
        }
  EXPECT_GT(busy, 0);
  EXPECT_GT(waiting, 0);
}

// A bucket that starts while the one before it is under way follows it on the same connections. When each
// burst counted as a round trip of its own, windows grew less and this exchange took 30 % longer than
// packets'.
TEST(OverlapWithBackward, TakesAsLongAsPacketsWhereBucketsShareConnections) {
  Case config = star_case(8, kRate, 0.12);
  config.workload.step_time.seconds = 4;
  const Trace trace = overlapping("halving-doubling", 8, 312500, 0.45, 2);
  expect_flow_as_packets(config, trace, 0.01, "two buckets on the same connections");
}

// What overlaps is no idle time: of ten steps each idles from the end of its compute to done.
TEST(OverlapWithBackward, OnlyWhatIsLeftAfterTheStepIsIdle) {
  const std::int64_t bucket = std::int64_t{kSegment} * 4 * 8;
  const double t = bucket_s("ring", bucket), left = std::max(-2. / 3 + 2. / 3 / 8 + 8 * t, t);
  const Replayed replayed = run_replay(open_star(4), overlapping("ring", 4, 8 * bucket, 2. / 3, 8, 10));
  for (const auto& row : rows_of(replayed, "replicas.csv")) {
    const double compute_s = std::stod(row[1]), idle_s = std::stod(row[2]), clock_s = std::stod(row[3]);
    EXPECT_DOUBLE_EQ(compute_s, 10);
    EXPECT_NEAR(idle_s / (10 * left), 1, 0.01);
    EXPECT_NEAR(clock_s, compute_s + idle_s, 1e-8);
    EXPECT_EQ(std::stoll(row[4]), 10 * 8 * bucket * 2 * 3 / 4) << "as much as in one piece";
  }
}

// Replica 2 takes ten seconds a step: the others wait for its first bucket, which it releases at 10 - 10 f (1
// - 1/b).
TEST(OverlapWithBackward, AStragglersBucketsComeLate) {
  Case config = open_star(4);
  config.workload.step_time.kind = StepTime::Kind::kMeasured;
  const std::int64_t bucket = std::int64_t{kSegment} * 4 * 8;
  Trace trace = overlapping("ring", 4, 4 * bucket, 0.1, 4);
  trace.measured_s = {{1, 1, 10, 1}};
  const double t = bucket_s("ring", bucket);
  const Replayed replayed = run_replay(config, trace);
  for (const int replica : {0, 2}) {
    EXPECT_DOUBLE_EQ(replayed.row(1, replica).ready_s, replica == 2 ? 10 : 1);
    EXPECT_DOUBLE_EQ(replayed.row(1, replica).start_s, 10);
    EXPECT_NEAR(replayed.row(1, replica).done_s, std::max(9.25 + 4 * t, 10 + t), 0.01);
  }
}

}  // namespace longhaul::overlap_test
