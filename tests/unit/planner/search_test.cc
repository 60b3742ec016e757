// Time, money and bytes of small stars by hand; the rule for H; the front.
#include "planner/search.h"

#include <gtest/gtest.h>

#include <set>

#include "analysis/run_files.h"
#include "core/errors.h"
#include "tests/unit/planner/in_process.h"

namespace longhaul {
namespace {

// Four nodes on links of 1538 Mb/s, which carry 1448 Mb/s of payload, 20 ms apart; 724 MB to exchange.
// Chunks of 181 MB take 1 s each and 10 ms one way: a ring of 2 · 3 rounds takes 6.06 s.
Json star() {
  return {{"nodes", 4},
          {"parameters", 362000000},
          {"tokens", 400000},
          {"tokens_per_step", 100},
          {"step_time", "0.5s"},
          {"accelerator", {{"per_node", 2}, {"price", 3.6}}},
          {"egress", 0.25},
          {"network",
           {{"fidelity", "analytic"}, {"topology", {{"star", {{"rate", "1538Mbps"}, {"rtt", "20ms"}}}}}}},
          {"candidates",
           {{"methods", {"diloco"}}, {"inner_steps", {20}}, {"all_reduce", {"ring"}}, {"connections", {1}}}}};
}

// 400,000 tokens of 4 · 100 a step are 1000 steps of 0.5 s, and 50 synchronizations. Each node sends 6
// chunks, 1.086 GB, in packets of 1448 bytes with headers of 52. Eight accelerators cost 28.80 an hour.
TEST(Search, TimeMoneyAndBytesOfAStarByHand) {
  const PlanFolder folder;
  const PlanRequest plan = plan_of_json(folder, star());
  const PlanResult result = planned(folder, plan);
  const Evaluation& choice = result.choice();
  const double seconds = 1000 * 0.5 + 50 * 6.06, bytes = 50 * 4 * 6 * 181e6 * 1500 / 1448;
  EXPECT_NEAR(choice.total_s(), seconds, 1e-6);
  EXPECT_TRUE(choice.time.is_exact);
  EXPECT_EQ(choice.time.replayed_steps, 80);
  EXPECT_NEAR(choice.utilization, 500 / seconds, 1e-9);
  EXPECT_NEAR(choice.bytes(), bytes, 1);
  EXPECT_NEAR(choice.compute_cost, seconds / 3600 * 28.8, 1e-6);
  EXPECT_NEAR(choice.egress_cost, bytes / 1e9 * 0.25, 1e-6);
  ASSERT_EQ(choice.traffic.sites.size(), 4u) << "without sites each node is one";
  EXPECT_EQ(choice.traffic.sites[3], "node 3");
  EXPECT_NEAR(choice.traffic.leaving[3], bytes / 4, 1);
}

// The same with two nodes at each of two sites, blocks: of the ring's four hops two leave a site.
TEST(Search, OnlyWhatLeavesASiteCounts) {
  const PlanFolder folder;
  Json json = star();
  json.erase("nodes");
  json["network"] = {{"fidelity", "analytic"},
                     {"topology",
                      {{"hierarchical",
                        {{"sites", {{"a", 2}, {"b", 2}}},
                         {"inside", {{"rate", "10Gbps"}, {"rtt", "1ms"}}},
                         {"trunk", {{"rate", "1538Mbps"}, {"rtt", "20ms"}}}}}}}};
  json["nodes"] = 4;
  json["candidates"]["rank_orders"] = {"blocks"};
  json["egress"] = {{"price", 0.25}, {"sites", {{"b", 1}}}};
  const PlanRequest plan = plan_of_json(folder, json);
  const PlanResult result = planned(folder, plan);
  const Evaluation& choice = result.choice();
  const double of_each = 50 * 6 * 181e6 * 1500 / 1448;
  ASSERT_EQ(choice.traffic.sites, (std::vector<std::string>{"a", "b"}));
  EXPECT_NEAR(choice.traffic.leaving[0], of_each, 1);
  EXPECT_NEAR(choice.traffic.leaving[1], of_each, 1);
  EXPECT_NEAR(choice.egress_cost, of_each / 1e9 * 1.25, 1e-6);
  // The replay's own count on the trunk, 38 bytes of Ethernet a packet more, over 4 of the 50 outer steps.
  double on_trunk = 0;
  for (CsvStream rows(choice.folder + "/links.csv", {"link", "direction", "bytes"}); rows.next();)
    if (rows.text(0) == "a-wan" && rows.text(1) == "forward") on_trunk = rows.number(2);
  EXPECT_NEAR(on_trunk * 1500 / 1538 * 50 / 4, of_each, 1e-5 * of_each);
  EXPECT_EQ(placement_in_words(choice.one), "a: 0-1; b: 2-3");
}

// H steps of 0.5 s for each 6.06 s: 20 compute 62 % of the time, 50 do 80.5 %, 100 do 89 %.
TEST(Search, TakesTheSmallestHThatKeepsTheUtilization) {
  const PlanFolder folder;
  Json json = star();
  json["candidates"]["inner_steps"] = {100, 20, 50, 10};
  for (const auto& [least, expected] : {std::pair(0.6, 20), {0.7, 50}, {0.85, 100}}) {
    json["min_utilization"] = least;
    const PlanResult result = planned(folder, plan_of_json(folder, json));
    EXPECT_EQ(result.choice().candidate.inner_steps, expected);
    EXPECT_TRUE(result.search.keeps_utilization);
    EXPECT_EQ(result.search.of_choice.size(), 4u);
  }
  json["min_utilization"] = 0.95;
  const PlanRequest plan = plan_of_json(folder, json);
  const PlanResult result = planned(folder, plan);
  EXPECT_EQ(result.choice().candidate.inner_steps, 100) << "the one that comes nearest";
  EXPECT_FALSE(result.search.keeps_utilization);
  EXPECT_NE(decision(plan, result).find("No candidate computes 95 % of the time"), std::string::npos);
}

// A link of 7690 Mb/s carries a chunk in 0.2 s: 50 synchronizations save 50 · 6 · 0.8 s.
TEST(Search, ReplaysFasterLinks) {
  const PlanFolder folder;
  const PlanResult result = planned(folder, plan_of_json(folder, star()));
  ASSERT_EQ(result.sensitivity.upgrades.size(), 1u) << "the nodes' links are alike";
  EXPECT_EQ(result.sensitivity.upgrades[0].what, "every node's own link");
  EXPECT_NEAR(result.sensitivity.upgrades[0].saved_s, 240, 1e-6);
  EXPECT_NEAR(result.sensitivity.upgrades[0].to, 7690e6, 1);
}

// With eight accelerators that each have a way out of that rate a chunk takes 1/8 s.
TEST(Search, AWayOutForEachAcceleratorMultipliesRateAndConnections) {
  const PlanFolder folder;
  Json json = star();
  json["accelerator"]["per_node"] = 8;
  json["way_out"] = "per-accelerator";
  const PlanResult result = planned(folder, plan_of_json(folder, json));
  EXPECT_NEAR(result.choice().total_s(), 500 + 50 * (6 / 8. + 0.06), 1e-6);
  EXPECT_EQ(result.choice().one.network.tcp.connections, 8);
}

// int8 halves the bytes, and a ring of fewer bytes is better in all three.
TEST(Search, TheFrontHoldsWhatNothingDominates) {
  const PlanFolder folder;
  Json json = star();
  json["candidates"]["wires"] = {"bf16", "int8"};
  json["candidates"]["methods"] = {"ddp", "diloco", {{"name", "noloco"}, {"inner_steps", 20}}};
  json["min_utilization"] = 0;
  const PlanResult result = planned(folder, plan_of_json(folder, json));
  const SearchResult& search = result.search;
  EXPECT_EQ(search.evaluations[0].candidate.words.find("int8") == std::string::npos, false);
  std::set<std::string> methods;
  for (const Evaluation& one : search.evaluations) methods.insert(one.candidate.method);
  EXPECT_EQ(methods.size(), 3u) << "of each method one is replayed";
  for (std::size_t i = 0; i < search.evaluations.size(); ++i)
    for (std::size_t k = 0; k < search.front; ++k)
      EXPECT_FALSE(dominates(search.evaluations[i], search.evaluations[k])) << i << " " << k;
  for (std::size_t i = search.front; i < search.evaluations.size(); ++i) {
    bool is_beaten = false;
    for (std::size_t k = 0; k < search.front; ++k)
      is_beaten = is_beaten || dominates(search.evaluations[k], search.evaluations[i]);
    EXPECT_TRUE(is_beaten) << search.evaluations[i].candidate.words;
  }
}

Evaluation costing(double seconds, double money, double bytes) {
  Evaluation one;
  one.time.total_s = seconds;
  one.compute_cost = money;
  one.traffic.leaving = {bytes};
  return one;
}

TEST(ParetoFront, OfThreeCosts) {
  const std::vector<Evaluation> all = {costing(10, 5, 5), costing(12, 4, 6), costing(11, 5, 5),
                                       costing(10.01, 5.01, 5.01), costing(20, 1, 1)};
  EXPECT_EQ(pareto_front(all, Preference::kTime), (std::vector<std::size_t>{0, 1, 4}));
  EXPECT_EQ(pareto_front(all, Preference::kMoney), (std::vector<std::size_t>{4, 1, 0}));
}

// The model's 7 % are of what the network adds to the compute.
TEST(Evaluation, RangesAreOfTheNetworksPart) {
  Evaluation one = costing(150, 0, 0);
  one.compute_s = 100;
  one.residual = 0.07;
  EXPECT_DOUBLE_EQ(one.low_s(), 146.5);
  EXPECT_DOUBLE_EQ(one.high_s(), 153.5);
}

// A grid of twos among three nodes, and an H of more steps than there are.
TEST(Search, SaysWhatIsLeftOut) {
  const PlanFolder folder;
  Json json = star();
  json["candidates"]["inner_steps"] = {20, 5000, 6000};
  const PlanResult too_few_steps = planned(folder, plan_of_json(folder, json));
  ASSERT_EQ(too_few_steps.search.notes.size(), 2u);
  EXPECT_EQ(
      too_few_steps.search.notes[0],
      "diloco with H = 5000 is left out: method.inner_steps: found 5000, but there are only 1000 steps");
  json["nodes"] = 3;
  json["candidates"]["methods"] = {"diloco", "moshpit"};
  json["candidates"]["inner_steps"] = {20, 50};
  const PlanResult odd = planned(folder, plan_of_json(folder, json));
  ASSERT_EQ(odd.search.notes.size(), 1u) << "once for all H";
  EXPECT_EQ(odd.search.notes[0].rfind("moshpit is left out: replicas: found 3", 0), 0u)
      << odd.search.notes[0];
}

// Of three nodes one sits out each of 100 outer steps: two send Δ and φ, in packets of 1448 bytes with
// headers of 52.
TEST(Search, HasNolocoForAnOddNumberOfNodes) {
  const PlanFolder folder;
  Json json = star();
  json["nodes"] = 3;
  json["tokens"] = 600000;  // 2000 steps
  json["candidates"]["methods"] = {{{"name", "noloco"}, {"inner_steps", 20}}};
  const PlanResult result = planned(folder, plan_of_json(folder, json));
  EXPECT_TRUE(result.search.notes.empty());
  EXPECT_NEAR(result.choice().bytes(), 100 * 2 * 2 * 2 * 181e6 * 1500 / 1448, 1);
}

// 18 bytes a parameter and 8 of DiLoCo's outer state over two accelerators; 10 B do not fit into 80 GB.
TEST(Search, ChecksMemory) {
  const PlanFolder folder;
  Json json = star();
  const PlanResult result = planned(folder, plan_of_json(folder, json));
  EXPECT_DOUBLE_EQ(result.choice().memory.without_outer_state(), 18 * 181e6);
  EXPECT_DOUBLE_EQ(result.choice().memory.with_outer_state(), 26 * 181e6);
  EXPECT_TRUE(result.choice().memory.fits());
  json["parameters"] = 10000000000;
  json["accelerator"]["memory"] = "80GB";
  try {
    planned(folder, plan_of_json(folder, json));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.parts().path, "accelerator");
    EXPECT_NE(error.parts().found.find("130 GB an accelerator of 80 GB"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace longhaul
