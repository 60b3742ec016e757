// Replicas that are slower than others, in closed form: every message takes 0.3 s, so a ring of n members
// 2 (n − 1) · 0.3 s, and a step takes 1 s times the replica's factor. Operations that do not wait for
// everyone, the grace time that follows from lags, and slow replicas that take fewer steps.
#include <gtest/gtest.h>

#include <limits>

#include "replay/exchange/lag_history.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::quorum_test {

constexpr double kMessage_s = 0.3, kInfinity = std::numeric_limits<double>::infinity();

double ring_s(int members) {
  return 2 * (members - 1) * kMessage_s;
}

Case case_of(int steps, const std::vector<double>& factors, double message_s = kMessage_s) {
  Case config = drawn_case(static_cast<int>(factors.size()), message_s, 0, false);
  config.workload.steps = steps;
  config.workload.step_time_factors = factors;
  return config;
}

Replayed replayed(const Completion& completion, const std::vector<double>& factors, int steps = 1) {
  OperationRule rule = rule_of("ring");
  rule.completion = completion;
  return walked(case_of(steps, factors), OperationPlan{{rule}});
}

// Those who take part begin together, with a ring. Who comes later waits for nothing and sends nothing.
TEST(Quorum, PassesByWhoIsNotThereWhenItBegins) {
  const double all_s = ring_s(4), three_s = ring_s(3);
  const std::vector<int> all = {0, 1, 2, 3}, three = {0, 1, 2};
  const auto adaptive = [](int quorum, double mads, double start_s = kInfinity) {
    return Completion{quorum, 0, AdaptiveGrace{mads, 64, 0, start_s}};
  };
  const struct {
    const char* what;
    Completion completion;
    std::vector<double> factors, begun_s;  // by replica; by step
    std::vector<std::vector<int>> groups;  // by step
  } rows[] = {
      // Three are ready after 1 s, the quorum's grace ends at 1.5 s, the fourth comes at 2 s; or in time.
      {"after the grace", {3, 0.5}, {1, 1, 2, 1}, {1.5}, {{0, 1, 3}}},
      {"as soon as all are ready", {3, 0.5}, {1, 1, 1.4, 1}, {1.4}, {all}},
      {"a quorum of one is a deadline after the first", {1, 0.3}, {1.2, 1.5, 1, 2}, {1.3}, {{0, 2}}},
      {"who is alone sends nothing", {1, 0.25}, {1, 3}, {1.25}, {{0}}},
      // Three of four decide at once; the slow one is a step behind after each step of its own.
      {"without grace", {3, 0}, {1, 1, 1, 4}, {1, 2 + three_s, 3 + 2 * three_s}, {three, three, three}},
      // Median + 3 MAD of the lags, and all of them while there are none. Step 1: all wait for the last, at
      // 1.9 s; lags 0.1, 0.2, 0.9, so median 0.2, MAD 0.1. Step 2 waits for 0.5 s and passes the fourth by,
      // which is ready 0.9 s after the first: the same three lags again, and the same 0.5 s. Since it did not
      // exchange, at step 3 it is ready in time.
      {"an adaptive grace follows the lags",
       adaptive(1, 3),
       {1, 1.1, 1.2, 1.9},
       {1.9, 1.9 + all_s + 1.5, 1.9 + all_s + 1.5 + three_s + 1.2},
       {all, three, all}},
      // 0.3 s to begin with: the fourth, 0.9 s after the first, is passed by at once.
      {"it may start with a time", adaptive(1, 3, 0.3), {1, 1.1, 1.2, 1.9}, {1.3}, {three}},
      // A lag counts from when the quorum was there: of the third member on, 0.1 and 0.6 s after the second
      // one. Median 0.35, MAD 0.25: at step 2 it waits from then for 0.4 s with 0.2 MADs, and for 0.65 s, so
      // for all, with 1.2.
      {"0.2 MADs", adaptive(2, 0.2), {1, 1.5, 1.6, 2.1}, {2.1, 2.1 + all_s + 1.5 + 0.4}, {all, three}},
      {"1.2 MADs", adaptive(2, 1.2), {1, 1.5, 1.6, 2.1}, {2.1, 2.1 + all_s + 2.1}, {all, all}}};
  for (const auto& [what, completion, factors, begun_s, groups] : rows) {
    SCOPED_TRACE(what);
    const Replayed result = replayed(completion, factors, static_cast<int>(groups.size()));
    std::vector<double> done_s(factors.size());
    for (std::size_t step = 1; step <= groups.size(); ++step)
      for (std::size_t i = 0; i < factors.size(); ++i) {
        const std::vector<int>& group = groups[step - 1];
        const ExchangeRecord& row = result.row(static_cast<int>(step), static_cast<int>(i));
        const bool takes_part = std::count(group.begin(), group.end(), row.replica) > 0;
        const double ready_s = done_s[i] + factors[i], start_s = takes_part ? begun_s[step - 1] : ready_s;
        done_s[i] = start_s + (takes_part ? ring_s(static_cast<int>(group.size())) : 0);
        expect_row(result, row.step, row.replica, ready_s, start_s, done_s[i]);
        EXPECT_EQ(row.bytes > 0, takes_part && group.size() > 1) << step << ' ' << i;
      }
    const std::vector<Json> schedule = schedule_of(result);
    ASSERT_EQ(schedule.size(), groups.size());
    for (const Json& line : schedule) EXPECT_EQ(line["group"], groups[line["step"].get<std::size_t>() - 1]);
  }
}

Completion fetched(int quorum, double grace_s) {
  return {quorum, grace_s, {}, true};
}

// As above, but who is late gets the result: the ring of three is over at 2.7 s, and one message later it has
// it. Its step is lost.
TEST(FetchedQuorum, WhoIsLateGetsTheResult) {
  const Replayed result = replayed(fetched(3, 0.5), {1, 1, 2, 1});
  for (const int replica : {0, 1, 3}) EXPECT_NEAR(result.row(1, replica).done_s, 2.7, 1e-9);
  expect_row(result, 1, 2, 2, 2, 2.7 + kMessage_s);
  std::int64_t bytes = 0;
  for (const ExchangeRecord& row : result.exchanges) bytes += row.bytes;
  EXPECT_EQ(bytes, 2 * 2 * 1000 + 1000) << "of a ring of three, and of the result";
  EXPECT_EQ(result.report["transfers"], 3 * 4 + 1);
  EXPECT_EQ(schedule_of(result).at(0)["group"], (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(totals_of(result, 2), (Cells{"0", "2"}));
  EXPECT_EQ(totals_of(result, 0), (Cells{"1", "0"}));
}

// The ring of two is over at 2.1 s. Three who are late at 2 s: two get the result at 2.4 s, from one each,
// and the third from whoever has it first. One who comes at 5 s gets it at once from one of them; both have
// gone on, and rows and totals have the result too.
TEST(FetchedQuorum, WhoHasTheResultPassesItOn) {
  const Replayed early = replayed(fetched(2, 0.5), {1, 1, 2, 2, 2});
  std::vector<double> done;
  for (const int replica : {2, 3, 4}) done.push_back(early.row(1, replica).done_s);
  std::sort(done.begin(), done.end());
  for (const std::size_t i : {0u, 1u, 2u}) EXPECT_NEAR(done[i], i < 2 ? 2.4 : 2.7, 1e-9);
  const Replayed late = replayed(fetched(2, 0.5), {1, 1, 5});
  EXPECT_NEAR(late.row(1, 2).done_s, 5.3, 1e-9);
  std::int64_t rows = 0, totals = 0;
  for (const ExchangeRecord& row : late.exchanges) rows += row.bytes;
  for (const auto& row : rows_of(late, "replicas.csv")) totals += std::stoll(row.at(4));
  EXPECT_EQ(rows, 2 * 1000 + 1000);
  EXPECT_EQ(totals, 2 * 1000 + 1000);
  // The first one, alone, is done when the grace is over; the other goes on from its result.
  const Replayed alone = replayed(fetched(1, 0.5), {1, 3}, 2);
  EXPECT_NEAR(alone.row(1, 0).done_s, 1.5, 1e-9);
  EXPECT_NEAR(alone.row(1, 1).done_s, 3.3, 1e-9);
  EXPECT_NEAR(alone.row(2, 0).done_s, 3, 1e-9);
  EXPECT_NEAR(alone.row(2, 1).done_s, 6.6, 1e-9);
  EXPECT_EQ(totals_of(alone, 1), (Cells{"0", "6"}));
}

// With an endless grace it is the operation of all.
TEST(FetchedQuorum, WithAnEndlessGraceNobodyIsLate) {
  const Replayed all = replayed({}, {1, 1, 2, 1}, 3),
                 endless = replayed(fetched(1, kInfinity), {1, 1, 2, 1}, 3);
  ASSERT_EQ(endless.exchanges.size(), all.exchanges.size());
  for (std::size_t i = 0; i < all.exchanges.size(); ++i) {
    EXPECT_EQ(endless.exchanges[i].bytes, all.exchanges[i].bytes);
    EXPECT_LE(endless.exchanges[i].ready_s, endless.exchanges[i].done_s);
  }
  for (int replica = 0; replica < 4; ++replica) EXPECT_EQ(totals_of(endless, replica), (Cells{"3", "0"}));
}

// Of 1, 1, 2, 2, 4, 6, 9 the median is 2, and the deviations are 1, 1, 0, 0, 2, 4, 7: their median is 1.
TEST(Median, OfValuesAndOfTheirDeviations) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({9, 1, 2, 4}), 3);
  EXPECT_EQ(median({5, 5, 1, 5}), 5);
  EXPECT_THROW(median({}), std::logic_error);
  EXPECT_EQ(median_absolute_deviation({1, 1, 2, 2, 4, 6, 9}), 1);
  EXPECT_EQ(median_absolute_deviation({4}), 0);
}

// 1, 2, 4 and 1, 2, 6, 9 are the lags above: 2 + 3 · 1.
TEST(LagHistory, StartsWithTheStartThenWaitsForMedianAndDeviations) {
  LagHistory history(8);
  EXPECT_EQ(history.grace_s({3, 8, 0, kInfinity}), kInfinity);
  history.add({});
  EXPECT_EQ(history.grace_s({3, 8, 0, 12.5}), 12.5) << "one who met nobody tells nothing";
  history.add({1, 2, 4});
  history.add({2, 1, 9, 6});
  EXPECT_EQ(history.grace_s({3, 8, 0, kInfinity}), 5);
  EXPECT_EQ(history.grace_s({0, 8, 0, kInfinity}), 2);
  EXPECT_EQ(history.grace_s({3, 8, 7.5, kInfinity}), 7.5) << "at least so long";
}

// Of the last two operations: 3 and 5, 7. Median 5, deviations 2, 0, 2. One that was passed by is ready 11 s
// late, after the next operation: 1, 3, 11. Median 3, deviations 2, 0, 8.
TEST(LagHistory, ForgetsWhatHasLeftTheWindowAndCountsTheLateOnceTheyAreKnown) {
  LagHistory history(2), late(2);
  const std::int64_t first = history.add({100, 200});
  history.add({3});
  history.add({5, 7});
  EXPECT_EQ(history.grace_s({1, 2, 0, kInfinity}), 7);
  history.add_late(first, 1000);
  EXPECT_EQ(history.grace_s({1, 2, 0, kInfinity}), 7);
  const std::int64_t passed_by = late.add({1});
  late.add({3});
  EXPECT_EQ(late.grace_s({1, 2, 0, kInfinity}), 3) << "1 and 3: median 2, deviations 1 and 1";
  late.add_late(passed_by, 11);
  EXPECT_EQ(late.grace_s({1, 2, 0, kInfinity}), 5);
}

OperationPlan plan_of_rounds(int every, const std::vector<int>& taken) {
  OperationPlan plan{{rule_of("ring", every)}};
  plan.dynamic_steps = {every, taken};
  return plan;
}

// By step and replica: the clock after the step's compute.
std::map<std::pair<int, int>, double> clocks_of(const Replayed& replayed) {
  std::map<std::pair<int, int>, double> clocks;
  for (const auto& row : rows_of(replayed, "steps.csv"))
    clocks[{std::stoi(row[0]), std::stoi(row[1])}] = std::stod(row[2]);
  return clocks;
}

// 8 · 1 = 4 · 2 = 2 · 4 s: all are ready together, and a round is 8 s and the ring.
TEST(DynamicStepsReplay, AllEndARoundTogether) {
  const Case config = case_of(24, {1, 2, 4});
  const Replayed all = walked(config, plan_of_rounds(8, {8, 4, 2}));
  for (int round = 1; round <= 3; ++round)
    for (int replica = 0; replica < 3; ++replica) {
      const double done_s = round * (8 + ring_s(3)), ready_s = done_s - ring_s(3);
      expect_row(all, 8 * round, replica, ready_s, ready_s, done_s);
    }
  EXPECT_NEAR(simulated_s(all), 3 * (8 + ring_s(3)), 1e-9);
  for (const auto& row : rows_of(all, "replicas.csv")) {
    EXPECT_NEAR(std::stod(row[1]), 24, 1e-9) << "computed";
    EXPECT_NEAR(std::stod(row[2]), 3 * ring_s(3), 1e-9) << "idle";
  }
  // Without them the slow one takes 32 s a round.
  EXPECT_NEAR(simulated_s(walked(config, OperationPlan{{rule_of("ring", 8)}})), 3 * (32 + ring_s(3)), 1e-9);
  // Buckets of the last step, which all take, are released during its backward pass: the first one when a
  // quarter of it is left, last of all by the fastest, 0.25 s before 8 s; the second follows it, and messages
  // take 0.3 s however long they are.
  OperationPlan plan = plan_of_rounds(8, {8, 4, 2});
  plan.rules[0].overlap_backward = 0.5, plan.rules[0].buckets = 2;
  EXPECT_NEAR(walked(config, plan).row(8, 0).done_s, 8 - 0.25 + 2 * ring_s(3), 1e-9);
}

// Of 8 steps one that is three times slower takes 2, one that is 1.5 times slower 5: 6 and 7.5 s of 8. They
// take the steps 4 and 8; 2, 4, 5, 7 and 8 (ceil of 1.6, 3.2, 4.8, 6.4 and 8).
TEST(DynamicStepsReplay, ClocksGoOnWithTheStepsThatAreTaken) {
  const Replayed result = walked(case_of(10, {3, 1, 1.5}), plan_of_rounds(8, {2, 8, 5}));
  const std::vector<std::vector<double>> expected = {
      {0, 0, 0, 3, 3, 3, 3, 6}, {1, 2, 3, 4, 5, 6, 7, 8}, {0, 1.5, 1.5, 3, 4.5, 4.5, 6, 7.5}};
  // Two steps more: of a round that does not end, replica 2 takes one and replica 0 none.
  const double left_s[] = {0, 2, 1.5};
  const auto clocks = clocks_of(result);
  for (int replica = 0; replica < 3; ++replica) {
    for (int step = 1; step <= 8; ++step)
      EXPECT_NEAR(clocks.at({step, replica}), expected[as_index(replica)][as_index(step - 1)], 1e-9)
          << step << " " << replica;
    EXPECT_NEAR(clocks.at({10, replica}), result.row(8, replica).done_s + left_s[replica], 1e-9);
  }
}

// Drawn times are those of the steps that are taken, the same as without.
TEST(DynamicStepsReplay, DrawnTimesBelongToTheirSteps) {
  Case config = case_of(4, {1, 2});
  config.workload.step_time = {StepTime::Kind::kLognormal, 0, 0.3, 0.4};
  const auto all = clocks_of(walked(config, OperationPlan{{rule_of("ring", 4)}})),
             taken = clocks_of(walked(config, plan_of_rounds(4, {4, 2})));
  const auto time_of = [](const auto& clocks, int step) {
    return clocks.at({step, 1}) - (step > 1 ? clocks.at({step - 1, 1}) : 0);
  };
  for (const int step : {2, 4}) EXPECT_NEAR(time_of(taken, step), time_of(all, step), 1e-12);
  for (const int step : {1, 3}) EXPECT_EQ(time_of(taken, step), 0);
}

// Replica 1 takes the steps 2 and 4 of a round of 4, 2 s each, and crashes in the second one at 3 s. The
// others know at 3.25 s and begin the second round at 4 s. It is back at 5.5 s with its own state, and takes
// the steps 6 and 8 of that round and both of the third.
TEST(DynamicStepsReplay, OneWhoCrashesTakesItsStepsWhenItIsBack) {
  Case config = case_of(12, {1, 2, 1}, 0);
  config.faults = {crash_of(1, 3, 2.5)};
  config.recovery.detect_s = 0.25;
  config.recovery.downloads_state = false;
  const Replayed result = walked(config, plan_of_rounds(4, {4, 2, 4}));
  EXPECT_EQ(at(rows_of(result, "absences.csv").at(0), {1, 9}), (Cells{"4", "6"}))
      << "the step that it was taking, and where those who are there are at 5.5 s";
  const auto groups = groups_of_steps(result);
  EXPECT_EQ(groups.at(4), (std::vector<int>{0, 2}));
  EXPECT_EQ(groups.at(8), (std::vector<int>{0, 1, 2}));
  // Its own state has step 2; a second of step 4 is lost. 6, 8, 10 and 12 count too.
  EXPECT_EQ(totals_of(result, 1), (Cells{"5", "1"}));
  EXPECT_EQ(totals_of(result, 0)[0], "12");
  // It takes step 6 from 5.5 to 7.5 s and step 8 to 9.5 s; then a round is 4 s.
  EXPECT_NEAR(result.row(8, 0).done_s, 9.5, 1e-9);
  EXPECT_NEAR(simulated_s(result), 13.5, 1e-9);
  // Where all wait for it, it takes step 4 once more.
  config.recovery.on_failure = OnFailure::kWait;
  config.workload.steps = 10;
  const Replayed waited = walked(config, plan_of_rounds(4, {4, 2, 4}));
  EXPECT_NEAR(waited.row(4, 0).done_s, 5.5 + 2, 1e-9);
  EXPECT_NEAR(simulated_s(waited), 7.5 + 4 + 2, 1e-9);
  EXPECT_EQ(totals_of(waited, 1), (Cells{"5", "1"})) << "two of each round, one of the half; half of step 4";
  EXPECT_EQ(totals_of(waited, 0)[0], "10");
}

// Replicas that send to targets: 0 and 1 to each other, 2 and 3 to each other. Each hears one alone, whoever
// else is ready meanwhile: 0 and 1 begin at 2 s, and not with 2, which is ready before they are done. A
// message travels once both of its ends are ready. Where the 0.3 s go is told of every member.
TEST(Targets, AMemberBeginsWithThoseThatItHears) {
  OperationRule rule = rule_of("send");
  rule.kind = OperationKind::kSend;
  rule.grouping = Grouping::kTargets;
  rule.group_size = 1;
  const Case config = case_of(1, {1, 2, 2.2, 4});
  Trace trace = make_trace({{rule}}, {1, 4, 1, 1000});
  trace.targets.at({0, 1}) = {{1}, {0}, {3}, {2}};
  const Replayed result = walked(config, trace);
  expect_row(result, 1, 0, 1, 2, 2.3);
  expect_row(result, 1, 1, 2, 2, 2.3);
  expect_row(result, 1, 2, 2.2, 4, 4.3);
  expect_row(result, 1, 3, 4, 4, 4.3);
  for (const BreakdownRow& row : breakdown_of(result)) {
    EXPECT_NEAR(row.total_s(), kMessage_s, 1e-9) << row.replica;
    EXPECT_NEAR(row.of("message"), kMessage_s, 1e-9) << row.replica;
  }
}

}  // namespace longhaul::quorum_test
