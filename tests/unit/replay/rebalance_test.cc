// SWARM by hand: moves of workers between stages, and who gets the next micro-batch.
#include "replay/pipeline/rebalance.h"

#include <gtest/gtest.h>

#include "core/base/errors.h"
#include "replay/pipeline/wiring.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::rebalance_test {

using Workers = std::vector<int>;

// 24 s against 72: with 3 and 5 workers 32 and 57.6. The last one of stage 0 goes, and downloads from the
// first one of stage 1, unless another one computed less. A stage keeps a worker: the next one gives. Nothing
// moves where the slowest stage would get slower: 96 s in all on the one stage and 288 on the other, 2 and 6
// workers have 48 s each; 10 to 14 with two workers each, 20 s for one.
TEST(BestMove, TakesWhoComputedLeastToTheMostLoadedStageIfThatGetsFaster) {
  const Workers in_turn = {0, 1, 0, 1, 0, 1, 0, 1};
  // Stages and seconds of workers; which one moves, from, to, and from whom it downloads.
  const std::tuple<Workers, std::vector<double>, Workers> rows[] = {
      {in_turn, {24, 72, 24, 72, 24, 72, 24, 72}, {6, 0, 1, 1}},
      {in_turn, {20, 72, 19, 73, 24, 71, 20, 72}, {2, 0, 1, 5}},
      {in_turn, std::vector<double>(8, 5), {}},
      {{0, 1, 0, 1, 1, 1, 1, 1}, std::vector<double>(8, 48), {}},
      {{0, 1, 0, 1}, {10, 14, 10, 14}, {}},
      {{0, 1, 1, 1}, {1, 90, 90, 90}, {}},
      {{0, 1, 1, 1, 2, 2}, {1, 20, 20, 20, 90, 90}, {3, 1, 2, 4}}};
  for (const auto& [stage_of, busy_s, expected] : rows) {
    const int stages = *std::max_element(stage_of.begin(), stage_of.end()) + 1;
    const std::optional<StageMove> move = best_move(stages, stage_of, busy_s);
    EXPECT_EQ(move ? (Workers{move->worker, move->from, move->to, move->source}) : Workers(), expected);
  }
}

TEST(StageAssignment, AMoveHoldsFromItsStepOn) {
  StageAssignment assignment(2, 2);
  assignment.move(2, 1, 4);
  EXPECT_EQ(assignment.workers_of(0, 3), (Workers{0, 2}));
  EXPECT_EQ(assignment.workers_of(0, 4), Workers{0});
  EXPECT_EQ(assignment.workers_of(1, 4), (Workers{1, 2, 3}));
  EXPECT_TRUE(assignment.is_original(1, 3));
  EXPECT_FALSE(assignment.is_original(1, 4));
  EXPECT_TRUE(assignment.can_compute(2, 3));
  EXPECT_FALSE(assignment.can_compute(2, 4));
  EXPECT_TRUE(assignment.can_compute(0, 4));
  assignment.arrive();
  EXPECT_TRUE(assignment.can_compute(2, 4));
}

// A pass of stage 0 takes 1 s and 2 s back, one of stage 1 `ratio` times as long.
struct Swarm {
  int replicas = 4, microbatches = 16, steps = 5;
  double ratio = 3;
  int rebalance_every = 1;
};

constexpr double kBoth_s = 3;              // of a micro-batch on stage 0
constexpr std::int64_t kParameters = 900;  // half of them on each stage

Case case_of(const Swarm& setup, double message_s = 0) {
  Case config = drawn_case(setup.replicas, message_s, 0, false);
  config.pipeline.stages = 2;
  config.pipeline.microbatches = setup.microbatches;
  config.pipeline.routing = MicrobatchRouting::kThroughput;
  config.pipeline.rebalance_every = setup.rebalance_every;
  config.workload.parameters = kParameters;
  config.workload.steps = setup.steps;
  config.workload.step_time.seconds = kBoth_s * (1 + setup.ratio) * setup.microbatches;
  return config;
}

Trace trace_of(const Swarm& setup, const Case& config) {
  OperationRule rule = rule_of("ring");
  rule.before_optimizer = true;
  OperationPlan plan{staged_rules(rule, 2)};
  plan.rules[0].payload[0].columns = {{0, kParameters / 2}};
  plan.rules[1].payload[0].columns = {{kParameters / 2, kParameters}};
  plan.pipeline = equal_plan(config.pipeline, kParameters);
  plan.pipeline.parts[0].share = 1 / (1 + setup.ratio);
  plan.pipeline.parts[1].share = setup.ratio / (1 + setup.ratio);
  return make_trace(plan, {1, setup.replicas, setup.steps, kParameters});
}

Replayed run(const Swarm& setup, double message_s = 0) {
  const Case config = case_of(setup, message_s);
  return walked(config, trace_of(setup, config));
}

// From the end of the step before to its own.
std::map<int, double> seconds_of_steps(const Replayed& replayed) {
  std::map<int, double> ends, seconds;
  for (const auto& row : rows_of(replayed, "steps.csv"))
    ends[std::stoi(row[0])] = std::max(ends[std::stoi(row[0])], std::stod(row[3]));
  for (const auto& [step, end_s] : ends) seconds[step] = end_s - (step == 1 ? 0 : ends.at(step - 1));
  return seconds;
}

// In the end, by stage.
std::map<std::string, int> crews_of(const Replayed& replayed) {
  std::map<std::string, int> assignment;
  for (const auto& row : rows_of(replayed, "replicas.csv")) ++assignment[row[5]];
  return assignment;
}

// Of 256 micro-batches stage 0 has 3 s each and stage 1 9 s. With 4 and 4 workers stage 1 needs 576 s, with 3
// and 5 460.8, with 2 and 6 both 384; nothing moves after that. No order of passes is faster. To that comes
// the way of the first micro-batch and of the last one, and that a sender does not know what others have
// handed to the same worker: a tenth at most, once it has measured the new ones.
TEST(Rebalancing, ThreeTimesTheWorkGetsThreeTimesTheWorkers) {
  const Replayed replayed = run({4, 64});
  const std::map<int, double> seconds = seconds_of_steps(replayed);
  const double least_s[] = {576, 460.8, 384, 384, 384};
  for (int step = 1; step <= 5; ++step) EXPECT_GE(seconds.at(step), least_s[step - 1]) << "step " << step;
  for (const int step : {1, 2, 4, 5}) EXPECT_LE(seconds.at(step), 1.1 * least_s[step - 1]) << "step " << step;
  const Rows moves = rows_of(replayed, "moves.csv");
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(at(moves[0], {0, 1, 2, 3, 5}), (Cells{"1", "6", "0", "1", "5400"}))
      << "450 parameters of 12 bytes";
  EXPECT_EQ(at(moves[1], {0, 2}), (Cells{"2", "0"}));
  EXPECT_EQ(crews_of(replayed), (std::map<std::string, int>{{"0", 2}, {"1", 6}}));
  // The other way round stage 0 gets workers, and shares out the micro-batches of all replicas. 3 s and 1 s:
  // 192 s with 4 workers of stage 0, 128 with 6 of it.
  const Replayed reverse = run({4, 64, 5, 1 / 3.});
  const std::map<int, double> reverse_s = seconds_of_steps(reverse);
  EXPECT_GE(reverse_s.at(1), 192);
  EXPECT_GE(reverse_s.at(5), 128);
  EXPECT_LE(reverse_s.at(5), 1.1 * 128);
  EXPECT_EQ(crews_of(reverse), (std::map<std::string, int>{{"0", 6}, {"1", 2}}));
}

// Balanced stages: no move, and every file as it is without the key.
TEST(Rebalancing, NothingMovesWhereStagesAreBalanced) {
  Replayed with = run({4, 16, 5, 1}), without = run({4, 16, 5, 1, 0});
  EXPECT_TRUE(rows_of(with, "moves.csv").empty());
  with.files.erase("moves.csv");
  EXPECT_EQ(with.files, without.files);
}

// Every third step is compared, and none after the last one.
TEST(Rebalancing, ComparesEverySoManySteps) {
  const Rows moves = rows_of(run({4, 16, 6, 3, 3}), "moves.csv");
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0][0], "3");
}

// Each micro-batch of each replica goes through each part once, forward and back, whoever is there; and what
// it sends is what the plan says. Workers send that, exchanges, and the downloads.
TEST(Rebalancing, EveryMicrobatchPassesOnceAndBytesAreConserved) {
  const Replayed replayed = run({});
  std::map<std::vector<std::string>, int> passes;
  for (const auto& row : rows_of(replayed, "tasks.csv")) ++passes[{row[0], row[2], row[3], row[4]}];
  EXPECT_EQ(passes.size(), 5u * 2 * 16 * 2);
  for (const auto& [pass, count] : passes) EXPECT_EQ(count, 4);
  std::map<std::string, std::int64_t> bytes;
  for (const auto& row : rows_of(replayed, "pipeline.csv")) bytes[row[0]] += std::stoll(row[6]);
  std::int64_t sent = 0, counted = 0;
  for (const auto& [step, sum] : bytes) {
    EXPECT_EQ(sum, 4 * 16 * 10 * 2) << "step " << step;
    counted += sum;
  }
  for (const auto& row : rows_of(replayed, "moves.csv")) counted += std::stoll(row[5]);
  for (const ExchangeRecord& row : replayed.exchanges) counted += row.bytes;
  for (const auto& row : rows_of(replayed, "replicas.csv")) sent += std::stoll(row[4]);
  EXPECT_EQ(sent, counted);
  // Exchanges are among those that serve the stage: of 450 bytes a ring of n sends 2 (n − 1)/n from each.
  std::map<std::pair<int, std::string>, std::pair<int, std::int64_t>> rows;
  for (const ExchangeRecord& row : replayed.exchanges) {
    auto& [members, bytes] = rows[{row.step, row.exchange}];
    ++members;
    bytes += row.bytes;
  }
  const auto expected = [](int members) { return std::pair(members, std::int64_t{2} * (members - 1) * 450); };
  const int of_first[] = {4, 3, 2, 2, 2};
  for (int step = 1; step <= 5; ++step) {
    EXPECT_EQ((rows[{step, "outer.stage0"}]), expected(of_first[step - 1]));
    EXPECT_EQ((rows[{step, "outer.stage1"}]), expected(8 - of_first[step - 1]));
  }
}

// Each message takes 5 s, the download too: it begins when both are done with the step, the worker takes no
// pass before it is over, and then only of its new stage.
TEST(Rebalancing, ADownloadIsAMessage) {
  const Replayed replayed = run({4, 16, 2}, 5);
  const Rows moves = rows_of(replayed, "moves.csv");
  ASSERT_EQ(moves.size(), 1u);
  const double begin_s = std::stod(moves[0][6]), done_s = std::stod(moves[0][7]);
  EXPECT_NEAR(done_s - begin_s, 5, 1e-9);
  double both_done_s = 0;
  for (const auto& row : rows_of(replayed, "steps.csv"))
    if (row[0] == "1" && (row[1] == moves[0][1] || row[1] == moves[0][4]))
      both_done_s = std::max(both_done_s, std::stod(row[3]));
  EXPECT_NEAR(begin_s, both_done_s, 1e-9);
  int passes = 0;
  for (const auto& row : rows_of(replayed, "tasks.csv"))
    if (row[0] == "2" && row[1] == moves[0][1]) {
      ++passes;
      EXPECT_EQ(row[2], "1");
      EXPECT_GE(std::stod(row[5]), done_s);
    }
  EXPECT_GT(passes, 0);
  for (const auto& row : rows_of(replayed, "pipeline.csv"))
    if (row[1] == moves[0][1]) {
      EXPECT_EQ(row[2], row[0] == "1" ? "0" : "1");
    }
}

// A worker whose download takes longer than a step holds up its new stage's exchange, and nothing else is
// decided meanwhile.
TEST(Rebalancing, ALateWorkerHoldsUpTheExchange) {
  const Swarm setup{4, 16, 4};
  Case config = case_of(setup);
  config.network.message_time.reset();
  config.network.topology = mesh_spec(1e6, 0);
  config.pipeline.state_bytes = 1e5;  // of 450 parameters: 45 MB, 360 s at 1 Mb/s
  const Replayed replayed = walked(config, trace_of(setup, config));
  const Rows moves = rows_of(replayed, "moves.csv");
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0][0], "1");
  EXPECT_EQ(moves[1][0], "3") << "none behind step 2, whose passes were over before it was there";
  const int worker = std::stoi(moves[0][1]);
  const double done_s = std::stod(moves[0][7]);
  EXPECT_GT(done_s - std::stod(moves[0][6]), 360);
  EXPECT_NEAR(replayed.row(2, worker, "outer.stage1").ready_s, done_s, 1e-6);
  EXPECT_GE(replayed.row(2, 1, "outer.stage1").done_s, done_s);
}

TEST(Rebalancing, OnlyWhereAllWeightsOfAStageAreTheSame) {
  const Swarm setup;
  const Case config = case_of(setup);
  Trace trace = trace_of(setup, config);
  for (OperationRule& rule : trace.plan.rules) rule.every = 2;
  EXPECT_THROW(walked(config, trace), InputError);
}

// Workers of two stages in turn: 0, 2 and 4 hand to 1, 3 and 5.
constexpr int kFirst = 0, kSecond = 2;
const Workers kNext = {1, 3, 5};

// Of three that nobody knows each gets one, its own replica's first; then they took 1, 2 and 4 s. Work given
// so far is 1 each, and the next one goes to the least of 1 + 1, 1 + 2, 1 + 4; then of 2 + 1, 3, 5, where the
// first of equals is its own replica's again; then of 4, 3, 5.
TEST(Wiring, GivesToWhoHasTheLeastWorkWithIt) {
  Wiring wiring(3, 2);
  for (const int to : kNext) EXPECT_EQ(wiring.choose(kFirst), to);
  wiring.measured(kFirst, 1, 1);
  wiring.measured(kFirst, 3, 2);
  wiring.measured(kFirst, 5, 4);
  for (const int to : {1, 1, 3, 1, 1}) EXPECT_EQ(wiring.choose(kFirst), to);
  EXPECT_EQ(wiring.choose(kSecond), 3) << "each worker knows what it has measured itself";
  // A fifth of a new measurement: 1, then 1 + 0.2 · (6 − 1) = 2.
  Wiring averages(2, 2);
  averages.measured(kFirst, 1, 1);
  averages.measured(kFirst, 3, 1.5);
  EXPECT_EQ(averages.choose(kFirst), 1);
  averages.measured(kFirst, 1, 6);
  EXPECT_EQ(averages.choose(kFirst), 3) << "1 + 2 against 1.5";
}

// Worker 2 leaves stage 0 for stage 1. While it is away worker 0 has 1, 3 and 5; then it is one of four,
// which counts as having the least work that 0 has given, and as fast as the fastest: 1 s.
TEST(Wiring, AWorkerThatJoinsGetsItsShare) {
  Wiring wiring(3, 2);
  for (const int to : kNext) wiring.measured(kFirst, to, to == 1 ? 1 : 2);
  for (const int to : {1, 1, 3, 5}) EXPECT_EQ(wiring.choose(kFirst), to);  // 2, 2 and 2 s of work
  wiring.leave(kSecond);
  for (const int to : {1, 1, 3, 5}) EXPECT_EQ(wiring.choose(kFirst), to);  // 4 each
  wiring.join(kSecond, 1);
  // 1 would have 5 s, 2 too, 3 and 5 6 s; then 1 6 and 2 5.
  for (const int to : {1, 2, 1, 2, 3, 5}) EXPECT_EQ(wiring.choose(kFirst), to);
}

}  // namespace longhaul::rebalance_test
