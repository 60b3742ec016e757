// Rollouts: closed forms of each distribution on links without a round trip, and lists of events by hand.
#include "replay/rollouts/rollouts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "replay/rollouts/rollout_group.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul {
namespace {

constexpr double kRate = 1e8;                          // bit/s
constexpr double kHeaders = (1448 + 52 + 38) / 1448.;  // bytes on the wire for one of payload

// So many bytes take a link that long.
std::int64_t bytes_in(double seconds) {
  return std::llround(seconds * kRate / 8 / kHeaders);
}

// One trainer without exchanges; samples of `sample_s`, one a step and group unless said otherwise.
Case rollout_case(int groups, const std::string& distribution, double weights_s, int steps = 3) {
  Case config = star_case(1, kRate, 0);
  config.workload.steps = steps;
  config.workload.step_time.seconds = 3;
  RolloutSpec rollouts;
  rollouts.groups = groups;
  rollouts.batch = groups;
  rollouts.concurrent = 1;
  rollouts.length.mean = 6;
  rollouts.weights.distribution = distribution;
  rollouts.weights.bytes = bytes_in(weights_s);
  rollouts.weights.store.concurrent = 2;
  config.rollouts = rollouts;
  return config;
}

Replayed replayed(const Case& config, const std::string& fidelity = "flow") {
  OperationPlan plan;
  const Trace trace = make_trace(plan, {1, config.replicas, config.workload.steps, 1000});
  return run_with(fidelity == "flow" ? flow_replay : linux_replay, config, trace);
}

double cell(const Replayed& replayed, const std::string& file, std::size_t row, std::size_t column) {
  return std::stod(rows_of(replayed, file).at(row).at(column));
}

// From the end of step 1 until all groups have its weights.
double first_refit_s(const Replayed& replayed) {
  return cell(replayed, "versions.csv", 0, 5) - cell(replayed, "versions.csv", 0, 2);
}

double refit_s(Case config, std::optional<double> pieces = {}) {
  if (pieces)
    config.rollouts->weights.piece = std::ceil(static_cast<double>(config.rollouts->weights.bytes) / *pieces);
  return first_refit_s(replayed(config));
}

// Of hosts that send while they receive: an acknowledgement of 90 bytes for two segments of 1538 each shares
// their links with what they pass on.
constexpr double kAcknowledgements = 90 / (2 * 1538.);
void expect_relayed(double measured_s, double expected_s) {
  EXPECT_GT(measured_s, expected_s - 0.005);
  EXPECT_LT(measured_s, expected_s * (1 + kAcknowledgements) + 0.02);
}

// n copies leave the source, whatever they are cut into.
TEST(WeightTransfers, BroadcastSendsACopyToEach) {
  for (const int groups : {1, 3, 8}) {
    EXPECT_NEAR(refit_s(rollout_case(groups, "broadcast", 2)), 2. * groups, 0.01 * groups);
    EXPECT_NEAR(refit_s(rollout_case(groups, "broadcast", 2), 16), 2. * groups, 0.01 * groups);
  }
}

// Of k pieces the last one leaves the source after all of them, and then takes n − 1 hops more.
TEST(WeightTransfers, AChainPassesPiecesOn) {
  for (const int groups : {1, 3, 8})
    for (const double pieces : {1., 4., 32.}) {
      SCOPED_TRACE(groups);
      expect_relayed(refit_s(rollout_case(groups, "chain", 2), pieces), 2 * (1 + (groups - 1) / pieces));
    }
}

// A source of fan-out f sends f copies at once, and so does each relay; a piece waits for nothing but its own
// arrival. With whole messages every level takes f times a copy; the last of k pieces is a level's time
// f · S (k + 1) / k behind the begin.
TEST(WeightTransfers, ARelayTreePassesPiecesOn) {
  Case config = rollout_case(6, "relay-tree", 2);  // two levels of fan-out 2
  EXPECT_NEAR(refit_s(config), 8, 0.05);
  expect_relayed(refit_s(config, 32), 4 * (1 + 1. / 32));
  config.rollouts->weights.fan_out = 6;
  EXPECT_NEAR(refit_s(config), 12, 0.05);
}

// Uploaded once; then n copies leave the store, at its own rate. Objects that are up can be downloaded.
TEST(WeightTransfers, AStoreIsAnUploadAndDownloads) {
  Case config = rollout_case(4, "store", 2);
  EXPECT_NEAR(refit_s(config), 2 + 4 * 2, 0.05);
  config.rollouts->weights.store.rate = 4 * kRate;  // each group's own link is the slowest then
  EXPECT_NEAR(refit_s(config), 2 + 2, 0.05);
  EXPECT_NEAR(refit_s(config, 32), 2 + 2. / 32, 0.05);
  config.rollouts->weights.store.request_s = 0.5;
  EXPECT_NEAR(refit_s(config), 2 + 0.5 + 2, 0.05);
  // Two requests at a time of 32 objects: each pair takes what two objects need, or the request.
  config.rollouts->weights.store.concurrent = 1;
  EXPECT_NEAR(refit_s(config, 4), 0.5 + 4 * (0.5 + 0.5), 0.05);
}

// Where each piece is asked for when the one before has come, a round trip goes by between two pieces, on all
// ways of a chain at once: (k − 1) (p + τ) + n (p + τ/2) of k pieces of p each and n groups, less slow start,
// which is there with and without. Two requests at a time leave no pause, where a piece takes longer than a
// round trip.
TEST(WeightTransfers, RequestsCostARoundTripAPiece) {
  constexpr double kRoundTrip_s = 0.02, kPieces = 8;
  for (const int groups : {1, 3}) {
    Case config = rollout_case(groups, "chain", 2);
    config.network.topology.options["rtt"] = "20ms";
    config.rollouts->weights.requests = 0;
    const double unasked_s = refit_s(config, kPieces);
    config.rollouts->weights.requests = 1;
    EXPECT_NEAR(refit_s(config, kPieces) - unasked_s, (kPieces - 1) * kRoundTrip_s, 0.01) << groups;
    config.rollouts->weights.requests = 2;
    EXPECT_NEAR(refit_s(config, kPieces), unasked_s, 0.01) << groups;
    config.rollouts->weights.requests = 100;
    EXPECT_NEAR(refit_s(config, kPieces), unasked_s, 0.01) << groups;
  }
}

// So does an upload that waits for its answer.
TEST(WeightTransfers, UploadsWaitForTheirAnswers) {
  Case config = rollout_case(1, "store", 2);
  config.network.topology.options["rtt"] = "20ms";
  config.rollouts->weights.store.rate = 4 * kRate;
  config.network.overrides = {up_of(0, kRate / 4)};  // the trainer's; downloads wait for it
  const double unanswered_s = refit_s(config, 8);
  config.rollouts->weights.store.uploads = 1;
  EXPECT_NEAR(refit_s(config, 8) - unanswered_s, 7 * 0.02, 0.01);
  config.rollouts->weights.store.uploads = 2;
  EXPECT_NEAR(refit_s(config, 8), unanswered_s, 0.01);
}

// Each of m sources sends an m-th, over a link of its own.
TEST(WeightTransfers, SourcesShareTheSending) {
  Case config = rollout_case(4, "broadcast", 2);
  config.replicas = 4;
  config.rollouts->batch = 4;
  config.rollouts->weights.sources = 4;
  EXPECT_NEAR(refit_s(config), 2, 0.05);  // as long as a group needs to receive all
}

// A source makes pieces at a rate, or late; a group unpacks the last one behind its arrival.
TEST(WeightTransfers, BuildingAndUnpacking) {
  Case config = rollout_case(1, "broadcast", 2);
  WeightsSpec& weights = config.rollouts->weights;
  weights.build_s = 1;
  EXPECT_NEAR(refit_s(config), 3, 0.02);
  weights.build_rate = kRate / kHeaders / 2;  // half of what the link carries: 4 s
  EXPECT_NEAR(refit_s(config), 1 + 4 + 2, 0.02);
  EXPECT_NEAR(refit_s(config, 8), 1 + 4 + 2. / 8, 0.02);
  weights.build_rate.reset();
  weights.unpack_rate = kRate / kHeaders / 3;
  EXPECT_NEAR(refit_s(config), 1 + 2 + 6, 0.02);
  EXPECT_NEAR(refit_s(config, 8), 1 + 2. / 8 + 6, 0.02);
}

// Bytes that hosts sent: each group receives all of each version, and of a tree nothing is sent twice.
TEST(WeightTransfers, BytesAreKept) {
  for (const std::string distribution : {"broadcast", "relay-tree", "chain", "store"}) {
    Case config = rollout_case(5, distribution, 0.5, 4);
    config.replicas = 3;
    config.rollouts->weights.sources = 3;
    config.rollouts->weights.piece = 70001;
    const double bytes = static_cast<double>(config.rollouts->weights.bytes);
    for (const int requests : {0, 1, 3}) {
      config.rollouts->weights.requests = config.rollouts->weights.store.uploads = requests;
      const Replayed run = replayed(config);
      for (std::size_t group = 0; group < 5; ++group)
        EXPECT_EQ(cell(run, "rollouts.csv", group, 8), 3 * bytes) << distribution;
      for (std::size_t version = 0; version < 3; ++version)
        EXPECT_EQ(cell(run, "versions.csv", version, 6), bytes * (distribution == "store" ? 6 : 5));
    }
  }
}

// Times of whole runs, and of batches: [step] begun, whole, used.
void expect_batches(const Replayed& run, const std::vector<std::vector<double>>& expected, double end_s) {
  const Rows rows = rows_of(run, "batches.csv");
  ASSERT_EQ(rows.size(), expected.size());
  for (std::size_t step = 0; step < rows.size(); ++step)
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(std::stod(rows[step].at(i + 1)), expected[step][i], 0.02) << step + 1 << " " << i;
  EXPECT_NEAR(simulated_s(run), end_s, 0.02);
}

// Samples of 6 s one after another, steps of 3 s, versions that take 2 s to send and 1 s to take up.
Case by_hand(WeightSwap swap, int staleness) {
  Case config = rollout_case(1, "broadcast", 2, 4);
  config.rollouts->staleness = staleness;
  config.rollouts->weights.swap = swap;
  config.rollouts->weights.swap_s = 1;
  return config;
}

// Nothing is generated while a step trains and its weights travel: 6 + 3 + 2 + 1 s a step.
TEST(Rollouts, OnPolicy) {
  for (const WeightSwap swap : {WeightSwap::kDrain, WeightSwap::kInFlight, WeightSwap::kPause}) {
    const Replayed run = replayed(by_hand(swap, 0));
    expect_batches(run, {{0, 6, 6}, {12, 18, 18}, {24, 30, 30}, {36, 42, 42}}, 45);
    for (const Cells& row : rows_of(run, "batches.csv")) EXPECT_EQ(row.at(9), "0");
    EXPECT_EQ(rows_of(run, "staleness.csv"), (Rows{{"0", "4"}}));
    EXPECT_NEAR(cell(run, "rollouts.csv", 0, 3), 24, 1e-6);  // busy
    EXPECT_NEAR(cell(run, "replicas.csv", 0, 2), 33, 0.06);  // idle: all but 12 s of compute
    EXPECT_NEAR(cell(run, "replicas.csv", 0, 5), 33, 0.06);
  }
}

// One step off, by hand : sample 2 begins with version 0 at 6 s; step 1
// ends at 9 s, its weights are there at 11 s.
TEST(Rollouts, OneStepOffWithEachWayOfSwapping) {
  // Sample 2 ends first, at 12 s; then a second of swapping.
  expect_batches(replayed(by_hand(WeightSwap::kDrain, 1)),
                 {{0, 6, 6}, {6, 12, 12}, {13, 19, 19}, {20, 26, 26}}, 29);
  // Every sample is stopped for a second, with a second of it left.
  expect_batches(replayed(by_hand(WeightSwap::kInFlight, 1)),
                 {{0, 6, 6}, {6, 13, 13}, {13, 20, 20}, {20, 27, 27}}, 30);
  // And for the two seconds of the transfer too, with three left.
  expect_batches(replayed(by_hand(WeightSwap::kPause, 1)),
                 {{0, 6, 6}, {6, 15, 15}, {15, 24, 24}, {24, 33, 33}}, 36);
  EXPECT_EQ(rows_of(replayed(by_hand(WeightSwap::kDrain, 1)), "staleness.csv"),
            (Rows{{"0", "1"}, {"1", "3"}}));
}

// No bound but one larger than the run: the group never waits, and the trainer for it alone.
TEST(Rollouts, ALargeBoundLeavesTheGroupBusy) {
  Case config = by_hand(WeightSwap::kInFlight, 4);
  config.rollouts->weights.swap_s = 0;
  expect_batches(replayed(config), {{0, 6, 6}, {6, 12, 12}, {12, 18, 18}, {18, 24, 24}}, 27);
}

// A version every two steps: both of them train with one, and a sample may be for the second of two.
TEST(Rollouts, AVersionEverySecondStep) {
  Case config = by_hand(WeightSwap::kDrain, 0);
  config.rollouts->weights.every = 2;
  // Steps 1 and 2 are of version 0: samples at 0 and 6 s; step 2 ends at 15 s, version 1 is in use at 18 s.
  expect_batches(replayed(config), {{0, 6, 6}, {6, 12, 12}, {18, 24, 24}, {24, 30, 30}}, 33);
  EXPECT_EQ(rows_of(replayed(config), "versions.csv").size(), 1U);
}

// Two groups, one twice as fast: three samples of 6 and 3 s a step.
TEST(Rollouts, AFasterGroupTakesMore) {
  Case config = rollout_case(2, "broadcast", 0.001, 1);
  config.rollouts->batch = 3;
  config.rollouts->speed_factors = {1, 2};
  const Replayed run = replayed(config);
  expect_batches(run, {{0, 6, 6}}, 9);
  EXPECT_EQ(rows_of(run, "rollouts.csv").at(0).at(6), "1");
  EXPECT_EQ(rows_of(run, "rollouts.csv").at(1).at(6), "2");
}

// A batch of four for three groups of four slots: one has two samples, the others one, for 6 s each.
TEST(Rollouts, SamplesGoToTheGroupWithTheFewest) {
  Case config = rollout_case(3, "broadcast", 0.001, 1);
  config.rollouts->batch = 4;
  config.rollouts->concurrent = 4;
  const Replayed run = replayed(config);
  expect_batches(run, {{0, 6, 6}}, 9);
  for (const std::size_t group : {0, 1, 2}) {
    EXPECT_EQ(rows_of(run, "rollouts.csv").at(group).at(6), group == 0 ? "2" : "1");
    EXPECT_EQ(cell(run, "rollouts.csv", group, 3), 6);
  }
}

TEST(SampleLengths, HaveTheirMeansAndCaps) {
  SampleLength length;
  length.mean = 1000;
  EXPECT_EQ(length.draw(1, 1), 1000);
  length.kind = SampleLength::Kind::kLognormal;
  length.sigma = 1;
  constexpr int kDraws = 40000;
  const auto mean_of = [&] {
    double sum = 0;
    for (int i = 1; i <= kDraws; ++i) sum += static_cast<double>(length.draw(7, i));
    return sum / kDraws;
  };
  EXPECT_NEAR(mean_of(), 1000, 6 * 1000 * std::sqrt((std::exp(1) - 1) / kDraws));
  // E[min(X, c)] = m Φ((ln(c/m) − σ²/2)/σ) + c Φ(−(ln(c/m) + σ²/2)/σ), with c = m: m (Φ(−½) + Φ(−½)).
  length.most = 1000;
  EXPECT_NEAR(mean_of(), 1000 * 2 * 0.3085375, 12);
  length.most = 0;
  length.kind = SampleLength::Kind::kPareto;
  length.least = 100;
  length.shape = 3;
  EXPECT_NEAR(mean_of(), 150, 3);  // 100 · 3 / 2
  EXPECT_EQ(length.expected(), 150);
}

// Two replays have the same bytes, whatever draws, and a version that is on its way when the last step ends
// still goes everywhere.
TEST(Rollouts, AReplayIsTheSameAgain) {
  Case config = by_hand(WeightSwap::kInFlight, 2);
  config.rollouts->groups = 3;
  config.rollouts->batch = 7;
  config.rollouts->concurrent = 2;
  config.rollouts->length.kind = SampleLength::Kind::kLognormal;
  config.rollouts->length.sigma = 1;
  const Replayed run = replayed(config);
  EXPECT_EQ(run.files, replayed(config).files);
  config.seed = 2;
  EXPECT_NE(run.files.at("batches.csv"), replayed(config).files.at("batches.csv"));
  const Rows versions = rows_of(run, "versions.csv"), refits = rows_of(run, "refits.csv");
  ASSERT_EQ(versions.size(), 3U);
  for (const Cells& row : versions) EXPECT_FALSE(row.at(5).empty()) << row.at(0);
  EXPECT_EQ(refits.size(), 9U);
}

// What is handed to a kernel-like TCP takes about as long: of drawn sizes and places.
TEST(Rollouts, FlowIsNearLinux) {
  for (const std::string distribution : {"broadcast", "relay-tree", "chain", "store"}) {
    Case config = rollout_case(3, distribution, 1);
    config.network.topology = star_spec(kRate, kRate, 0.02);
    config.rollouts->weights.piece = 1e6;
    config.network.fidelity = "linux";
    const double by_linux = first_refit_s(replayed(config, "linux"));
    config.network.fidelity = "flow";
    EXPECT_NEAR(first_refit_s(replayed(config)), by_linux, 0.1 * by_linux) << distribution;
  }
}

}  // namespace
}  // namespace longhaul
