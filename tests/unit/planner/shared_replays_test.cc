// Replays that serve several numbers of inner steps, and estimates of pipelines by few pieces: against the
// replays that they stand for.
#include "planner/shared_replays.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "planner/coarse_estimate.h"
#include "planner/exchange_turns.h"
#include "planner/extrapolation.h"
#include "tests/unit/planner/in_process.h"

namespace longhaul::shared_replays_test {

// Replays in the fidelity of the task, and counts them.
PlanTools counted(int& count) {
  PlanTools tools;
  tools.replay = [&count](std::vector<ReplayTask>& tasks, const std::string&) {
    for (ReplayTask& task : tasks) {
      ProgressReporter reporter("test", -1, true);
      replay_here(task, reporter);
      if (!task.times) throw std::runtime_error(task.error);
      ++count;
    }
  };
  return tools;
}

// Cases of a plan with three sites, by inner steps.
std::vector<Case> cases_of(const PlanFolder& folder, const Json& method, const Json& inner_steps,
                           const std::string& collective, const Json& change = Json::object()) {
  Json json = star({{"fidelity", "flow"}});
  json.erase("fidelity");
  json["network"]["fidelity"] = "flow";
  json["network"]["topology"] = Json::parse(R"({"hierarchical": {"sites": {"a": 2, "b": 1, "c": 2},
    "inside": {"rate": "10Gbps", "rtt": "1ms"}, "trunk": {"rate": "900Mbps", "rtt": "40ms"}}})");
  json["nodes"] = 5;
  json["parameters"] = 20000000;
  json["tokens"] = 1000000;
  json["candidates"]["methods"] = Json::array({method});
  json["candidates"]["inner_steps"] = inner_steps;
  json["candidates"]["all_reduce"] = {collective};
  json["candidates"]["rank_orders"] = {"blocks"};
  json.merge_patch(change);
  const PlanRequest plan = plan_of_json(folder, json);
  const PlanTools tools = tools_in(folder);
  std::vector<Case> cases;
  for (const Candidate& candidate :
       candidates_of(plan, network_in(folder, plan), {{method["name"], 1000000}}))
    cases.push_back(tools.validated(candidate.scenario));
  return cases;
}

int steps_of(const Case& config) {
  return steps_to_replay(periods_of(config, plan_of(config)), config.steps());
}

std::vector<WantedReplay> wanted_of(const std::vector<Case>& cases, const std::string& fidelity,
                                    const std::string& exchanges) {
  std::vector<WantedReplay> wanted;
  for (const Case& config : cases) wanted.push_back({&config, steps_of(config), fidelity, "", exchanges});
  return wanted;
}

// Clocks after each period and at the end, to a microsecond; with and without windows that outlive silence.
TEST(SharedReplays, ServeEveryHOfARecipe) {
  const Json streaming = {{"name", "streaming-diloco"}, {"fragments", 2}, {"overlap", 2}};
  for (const Json& method : {Json{{"name", "diloco"}}, streaming, Json{{"name", "local-sgd"}}})
    for (const char* collective : {"ring", "double-tree", "halving-doubling"})
      for (const char* fidelity : {"flow", "analytic"})
        for (const bool starts_slowly : {true, false}) {
          SCOPED_TRACE(method.dump() + collective + fidelity);
          const PlanFolder folder;
          const std::vector<Case> cases =
              cases_of(folder, method, {120, 40, 250}, collective,
                       {{"network", {{"tcp", {{"slow_start_after_idle", starts_slowly}}}}}});
          int shared_count = 0, own_count = 0, replays = 0;
          const auto shared =
              replay_shared(wanted_of(cases, fidelity, "the same"), counted(shared_count), "", replays);
          const auto own = replay_shared(wanted_of(cases, fidelity, ""), counted(own_count), "", replays);
          EXPECT_EQ(shared_count, 1);
          EXPECT_EQ(own_count, 3);
          EXPECT_EQ(replays, 4);
          for (std::size_t i = 0; i < cases.size(); ++i) {
            const ReplayedClocks &one = shared[i].times->clocks, &other = own[i].times->clocks;
            EXPECT_FALSE(shared[i].is_own);
            EXPECT_TRUE(own[i].is_own);
            EXPECT_NEAR(one.end_s, other.end_s, 1e-6);
            ASSERT_EQ(one.of_periods.size(), other.of_periods.size());
            for (std::size_t period = 0; period < one.of_periods.size(); ++period)
              for (std::size_t replica = 0; replica < 5; ++replica)
                EXPECT_NEAR(one.of_periods[period][replica], other.of_periods[period][replica], 1e-6);
            for (std::size_t replica = 0; replica < 5; ++replica)
              EXPECT_NEAR(shared[i].times->totals[replica].compute_s, own[i].times->totals[replica].compute_s,
                          1e-6);
          }
        }
}

// With H = 2, of steps of 0.5 s, an exchange of some seconds is not over when the next one of the other
// fragment is posted. The next H serves the one after it.
TEST(SharedReplays, ServeNoneWhereExchangesOverlap) {
  const PlanFolder folder;
  const std::vector<Case> cases =
      cases_of(folder, {{"name", "streaming-diloco"}, {"fragments", 2}, {"overlap", 1}}, {4, 60, 200}, "ring",
               {{"parameters", 200000000}});
  int count = 0, replays = 0;
  const auto shared = replay_shared(wanted_of(cases, "flow", "the same"), counted(count), "", replays);
  EXPECT_EQ(count, 2);
  const auto own = replay_shared(wanted_of(cases, "flow", ""), counted(count), "", replays);
  for (std::size_t i = 0; i < cases.size(); ++i)
    EXPECT_NEAR(shared[i].times->clocks.end_s, own[i].times->clocks.end_s, 1e-6) << i;
}

// Those that are not needed get what another's replay has, and cost none.
TEST(SharedReplays, ReplayNothingThatIsNotNeeded) {
  const PlanFolder folder;
  const std::vector<Case> cases = cases_of(folder, {{"name", "diloco"}}, {40, 80, 160}, "ring");
  std::vector<WantedReplay> wanted = wanted_of(cases, "analytic", "the same");
  wanted[0].is_needed = wanted[2].is_needed = false;
  int count = 0, replays = 0;
  const auto shared = replay_shared(wanted, counted(count), "", replays);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(shared[0].times, nullptr) << "computes less between two exchanges";
  EXPECT_NE(shared[1].times, nullptr);
  EXPECT_NE(shared[2].times, nullptr);
}

// Posted behind step 3 of 6 and awaited behind step 5, by hand.
TEST(ExchangeTurns, AreThePlansPostsAndAwaits) {
  OperationRule rule;
  rule.collective = "ring";
  rule.every = 6;
  rule.phase = 3;
  rule.overlap_steps = 2;
  OperationPlan plan;
  plan.rules = {rule};
  const std::vector<Turn> turns = turns_of(plan, 14).value();
  ASSERT_EQ(turns.size(), 2u) << "the one of step 15 comes too late";
  EXPECT_EQ(turns[0].post_step, 3);
  EXPECT_EQ(turns[0].await_step, 5);
  EXPECT_EQ(turns[1].post_step, 9);
  EXPECT_EQ(turns[1].await_step, 11);
  plan.rules[0].overlap_steps = 7;
  EXPECT_FALSE(turns_of(plan, 20)) << "the next one is posted before that";
  plan.rules[0].overlap_steps = 0;
  plan.rules[0].grouping = Grouping::kRandom;
  EXPECT_FALSE(turns_of(plan, 20));
}

// Two exchanges of two workers, steps of 1 s: clocks of 11 and 12 s after step 10 are waits of 1 and 2 s, of
// 22 and 23 s after step 20 waits of 2 and 3 s. The first is over at 12 s, and the second one is posted at 21
// s.
TEST(ExchangeTurns, HaveWaitsWhereOneIsOverBeforeTheNext) {
  ReplayedTimes base;
  base.clocks.of_periods = {{11, 12}, {22, 23}};
  base.totals.resize(2);
  base.totals[0].compute_s = base.totals[1].compute_s = 20;
  base.exchanges = {{10, 0, 10, 12}, {20, 0, 21, 23}};
  const std::vector<Turn> turns = {{0, 10, 10}, {0, 20, 20}};
  const auto waits_s = [&](double least_silence_s) {
    return waits_of(base, {10, 20}, turns, 20, least_silence_s);
  };
  EXPECT_EQ(waits_s(0).value(), (std::vector<std::vector<double>>{{1, 2}, {2, 3}}));
  EXPECT_TRUE(waits_s(9));
  EXPECT_FALSE(waits_s(9.1)) << "connections were silent for 9 s";
  base.exchanges[1].first_ready_s = 11.5;
  EXPECT_FALSE(waits_s(0)) << "a fast replica posts before a slow one has the result";
  base.exchanges[1].first_ready_s = 21;
  base.totals[1].compute_s = 40;
  EXPECT_FALSE(waits_s(0)) << "one computes twice as long";
}

// Waits of 1 s and then 2 s in all, of steps of 0.25 s.
TEST(ExchangeTurns, PutTheirWaitsBetweenOtherSteps) {
  const ReplayedTimes times =
      times_with({{1, 0.5}, {2, 1.5}}, {{0, 10, 10}, {0, 20, 20}}, 0.25, {9, 10, 20, 25});
  ASSERT_EQ(times.clocks.of_periods.size(), 3u);
  EXPECT_EQ(times.clocks.of_periods[0], (std::vector<double>{2.25, 2.25}));
  EXPECT_EQ(times.clocks.of_periods[1], (std::vector<double>{3.5, 3}));
  EXPECT_EQ(times.clocks.of_periods[2], (std::vector<double>{7, 6.5}));
  EXPECT_EQ(times.clocks.end_s, 8.25);
  EXPECT_EQ(times.totals[1].idle_s, 1.5);
}

// T = 100 + 80 / C s: of 8 pieces 110 s, of 16 pieces 105 s, of 256 100.3125 s.
TEST(CoarseEstimate, IsALineInOneOverThePieces) {
  const CoarsePlan coarse = {{{"double-tree-8", 8}, {"double-tree-16", 16}}, 256};
  EXPECT_NEAR(coarse_times(coarse, 110, 105).likely_s, 100.3125, 1e-9);
  EXPECT_NEAR(coarse_times(coarse, 110, 105).least_s, 100.3125, 1e-9);
  EXPECT_EQ(coarse_times(coarse, 103, 105).least_s, 103) << "it may rise";
}

// A double tree of 256 chunks among five nodes, over a network of its own for each message (analytic) and a
// shared one: within 1 % and 3 % of what the network adds, and the least of the three not above it by more
// than is taken off.
TEST(CoarseEstimate, IsNearTheReplayOfAllPieces) {
  const PlanFolder folder;
  const std::vector<Case> cases =
      cases_of(folder, {{"name", "diloco"}}, {50}, "double-tree", {{"parameters", 400000000}});
  const Case& config = cases.at(0);
  const CoarsePlan coarse = coarse_plan(config, plan_of(config)).value();
  EXPECT_EQ(coarse.pieces, 256);
  const double compute_s = 0.5 * config.steps();
  for (const auto& [fidelity, tolerance] : {std::pair("analytic", 0.01), {"flow", 0.03}}) {
    std::vector<WantedReplay> wanted = wanted_of({config, config, config}, fidelity, "");
    for (WantedReplay& one : wanted) one.config = &config;
    for (std::size_t i = 0; i < 2; ++i) wanted[i].collective = coarse.forms[i].name;
    int count = 0, replays = 0;
    const auto found = replay_shared(wanted, counted(count), "", replays);
    const auto total_s = [&](std::size_t number) {
      return training_time(found[number].times->clocks, periods_of(config, plan_of(config)), wanted[0].steps,
                           config.steps())
          .total_s;
    };
    const CoarseTimes times = coarse_times(coarse, total_s(0), total_s(1));
    const double added_s = total_s(2) - compute_s;
    EXPECT_NEAR(times.likely_s, total_s(2), tolerance * added_s) << fidelity;
    EXPECT_LE(times.least_s - kCoarseError * (times.least_s - compute_s), total_s(2)) << fidelity;
  }
  EXPECT_FALSE(coarse_plan(cases_of(folder, {{"name", "diloco"}}, {50}, "ring").at(0),
                           plan_of(cases_of(folder, {{"name", "diloco"}}, {50}, "ring").at(0))));
}

}  // namespace longhaul::shared_replays_test
