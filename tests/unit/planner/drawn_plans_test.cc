// Plans of unequal nodes beside the replay of all their steps, and plans that cannot be.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/base/csv.h"
#include "planner/faulty_times.h"
#include "planner/plan_data.h"
#include "planner/plan_text.h"
#include "planner/site_steps.h"
#include "tests/support/said.h"
#include "tests/unit/planner/in_process.h"

namespace longhaul::drawn_plans_test {

// Ten nodes at three sites whose steps take 0.5, 1 and 2 s; 48 million numbers to exchange between uplinks of
// 100 Mb/s to 1 Gb/s.
Json unequal(const Json& method, int steps, int seed) {
  Json plan =
      Json::parse(R"({"parameters": 24000000, "tokens_per_step": 100, "step_time": "1s", "min_utilization": 0,
    "network": null, "nodes": null,
    "sites": [{"name": "a", "nodes": 5, "rate": "1Gbps", "step_time": "0.5s"}, {"name": "b", "nodes": 3, "rate": "500Mbps"},
              {"name": "c", "nodes": 2, "rate": "100Mbps", "step_time": "2s"}],
    "paths": [{"between": ["a", "b"], "rtt": "20ms"}, {"between": ["a", "c"], "rtt": "150ms"},
              {"between": ["b", "c"], "rtt": "90ms"}]})");
  plan["tokens"] = 1000 * steps;
  plan["seed"] = seed;
  Json all = star(plan);
  all["candidates"] = {
      {"methods", Json::array({method})}, {"inner_steps", {2}},        {"connections", {1}},
      {"all_reduce", {"ring"}},           {"rank_orders", {"blocks"}}, {"batches", {"equal"}}};
  return all;
}

// The latest clock of a replay of all steps, in seconds.
double whole_s(const Evaluation& choice, const PlanTools& tools, std::uint64_t seed) {
  Case config = choice.config;
  config.seed = seed;
  std::vector<ReplayTask> tasks = {first_steps(config, config.steps(), "analytic", "all steps")};
  tools.replay(tasks, "");
  double latest_s = 0;
  for (const ReplicaTotals& of : tasks[0].times->totals) latest_s = std::max(latest_s, of.clock_s);
  return latest_s;
}

// Every method whose partners are drawn: 3000 outer steps, of which a plan replays at most 2001. The same
// draw and two others are inside of the range, of 18 by chance at most two are not.
TEST(DrawnPlans, HoldTheReplayOfAllTheirSteps) {
  int outside = 0, compared = 0;
  for (const Json& method :
       {Json{{"name", "noloco"}}, Json{{"name", "noloco"}, {"pairing", "sites"}, {"across_every", 3}},
        Json{{"name", "noloco"}, {"group_size", 3}}, Json{{"name", "gossip"}}, Json{{"name", "epidemic"}},
        Json{{"name", "noloco"}, {"pattern", "presend"}}}) {
    SCOPED_TRACE(method.dump());
    const Planned found(unequal(method, 6000, 1));
    const Evaluation& choice = found.result.choice();
    EXPECT_FALSE(choice.time.is_exact);
    EXPECT_LT(choice.time.replayed_steps, 6000);
    EXPECT_GE(choice.low_s(), 6000 * 2) << "the slowest node's compute";
    EXPECT_LE(choice.low_s(), choice.total_s());
    EXPECT_LE(choice.total_s(), choice.high_s());
    EXPECT_LE(choice.utilization, 1);
    EXPECT_LT(choice.time.half_width_s, 0.05 * choice.total_s()) << "a range that says something";
    const PlanTools tools = tools_in(found.folder);
    for (const std::uint64_t seed : {1, 2, 3}) {
      const double all_s = whole_s(choice, tools, seed);
      EXPECT_NEAR(choice.total_s() / all_s, 1, 0.05);
      outside += std::abs(all_s - choice.total_s()) > choice.time.half_width_s ? 1 : 0;
      ++compared;
    }
    EXPECT_SAYS(caveats(found.plan, found.result)[1], "chance decides on partners");
  }
  EXPECT_EQ(compared, 18);
  EXPECT_LE(outside, 2);
}

// The same of methods that draw nothing: exactly, though nodes differ.
TEST(DrawnPlans, AreExactWhereNothingIsDrawn) {
  for (const Json& method : {Json{{"name", "diloco"}}, Json{{"name", "ddp"}}, Json{{"name", "hierarchical"}},
                             Json{{"name", "streaming-diloco"}, {"fragments", 2}, {"overlap", 1}},
                             Json{{"name", "independent"}}}) {
    SCOPED_TRACE(method.dump());
    const Planned found(unequal(method, 300, 1));
    const Evaluation& choice = found.result.choice();
    EXPECT_TRUE(choice.time.is_exact);
    EXPECT_LT(choice.time.replayed_steps, 300);
    EXPECT_NEAR(choice.total_s(), whole_s(choice, tools_in(found.folder), 1), 1e-6);
  }
}

// Of ten times 100 tokens a step's nodes have 1000/14 a unit of speed, so that all take 0.714 s; whole tokens
// (36 at c, of 2 s a hundred) leave up to 0.72 s, so that no two periods are quite alike, and the range holds
// the replay of all steps.
TEST(DrawnPlans, BatchesBySpeedHoldTheReplayOfAllTheirSteps) {
  for (const char* method : {"diloco", "ddp", "hierarchical"}) {
    SCOPED_TRACE(method);
    Json json = unequal({{"name", method}}, 300, 1);
    json["candidates"]["batches"] = {"by-speed"};
    const Planned found(json);
    const Evaluation& choice = found.result.choice();
    EXPECT_NEAR(choice.step_s, 0.72, 1e-12);
    const double all_s = whole_s(choice, tools_in(found.folder), 1);
    EXPECT_NEAR(all_s, choice.total_s(), choice.time.half_width_s + 1e-6);
    EXPECT_NEAR(all_s / choice.total_s(), 1, 1e-3);
  }
}

// A node that fails may have slow partners in one draw and fast ones in the next: each is compared with the
// same draw without faults, and faults never pay.
TEST(DrawnPlans, FaultsNeverSaveTime) {
  const Json method = {{"name", "noloco"}};
  const Json without = unequal(method, 4000, 1);
  Json with = with_crashes(without, "wait", "own");
  with["tokens"] = without["tokens"];
  with["parameters"] = without["parameters"];
  const Planned found(with);
  ASSERT_EQ(found.result.faulty.size(), 1u);
  const FaultyTime& faulty = found.result.faulty[0];
  EXPECT_LE(faulty.goodput(), 1);
  EXPECT_GE(faulty.time().mean_s, found.result.choice().total_s());
  EXPECT_LE(faulty.time().low_s, faulty.time().mean_s);
  EXPECT_LE(faulty.time().mean_s, faulty.time().high_s);
  // A node is gone for 100 of 1300 s on average. Others wait for it, or go on with each other.
  EXPECT_LT(faulty.longer, 2 * 100 / 1200.);
}

// Steps of 0.5, 1 and 2 s, in the slowest one's.
TEST(DrawnPlans, ComputeOfAWorkerFollowsItsStep) {
  const Planned found(unequal({{"name", "diloco"}}, 300, 1));
  const Case& planned_case = found.result.choice().config;
  EXPECT_DOUBLE_EQ(computed_steps(planned_case, 0), 75) << "0.5 s a step beside 2 s";
  EXPECT_DOUBLE_EQ(computed_steps(planned_case, 9), 300);
  EXPECT_DOUBLE_EQ(longest_compute(planned_case), 300);
  EXPECT_DOUBLE_EQ(found.result.sites[0].computes, 150 / found.result.choice().total_s());
  EXPECT_DOUBLE_EQ(found.result.sites[2].computes, 600 / found.result.choice().total_s());
}

// 35 days of 40 days of compute, 115 %: an answer that was given once. Nothing is printed or written.
TEST(DrawnPlans, WhatCannotBeIsNotPrinted) {
  const auto refused = [](const auto& spoil) {
    Planned found(unequal({{"name", "noloco"}}, 300, 1));
    EXPECT_NO_THROW(plan_data(found.plan, found.result));
    spoil(found.result, found.result.search.evaluations[0]);
    EXPECT_THROW(plan_data(found.plan, found.result), std::logic_error);
    EXPECT_THROW(plan_text(found.plan, found.result), std::logic_error);
  };
  refused([](PlanResult&, Evaluation& choice) { choice.time.total_s = 0.87 * choice.compute_s; });
  refused([](PlanResult&, Evaluation& choice) { choice.utilization = 1.15; });
  refused([](PlanResult&, Evaluation& choice) { choice.time.half_width_s = -choice.total_s(); });
  refused([](PlanResult&, Evaluation& choice) { choice.time.total_s = std::nan(""); });
  refused([](PlanResult& result, Evaluation&) { result.sites[0].computes = 1.01; });
  refused([](PlanResult& result, Evaluation&) { result.faulty = {{"noloco", {10, 11, 12}, 1, 10, 0, 0}}; });
  refused([](PlanResult& result, Evaluation&) { result.sensitivity.links.at(0).busy = 1.2; });
}

// Names of candidates are for people: short, and each its own.
TEST(DrawnPlans, NamesAreShortAndTheirOwn) {
  Json json = star({{"candidates", {{"wires", {"bf16", "fp32"}}}}});
  json["candidates"]["methods"] = {"dgc", "diloco", {{"name", "sparseloco"}, {"inner_steps", 20}}};
  std::set<std::string> names;
  const PlanResult result = planned(json);
  for (const Evaluation& evaluation : result.search.evaluations) {
    EXPECT_LE(evaluation.candidate.words.size(), 100u) << evaluation.candidate.words;
    EXPECT_TRUE(names.insert(evaluation.candidate.words).second) << evaluation.candidate.words;
  }
  bool has_dgc = false;
  for (const std::string& name : names)
    has_dgc = has_dgc || name.rfind("dgc, top-k 4 of 4096, bf16, error feedback after a warm-up", 0) == 0;
  EXPECT_TRUE(has_dgc);
}

}  // namespace longhaul::drawn_plans_test
