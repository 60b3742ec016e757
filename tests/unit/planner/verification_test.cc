// Plans behind FIFOs: the search has fair queues, and what it takes is replayed in fidelity linux.
#include "planner/verification.h"

#include <gtest/gtest.h>

#include "planner/plan_data.h"
#include "planner/plan_text.h"
#include "tests/support/said.h"
#include "tests/unit/planner/in_process.h"

namespace longhaul::verification_test {

// The star of in_process.h with a tenth of the rate and of the bytes: a ring of 6 rounds takes 6.06 s too. A
// FIFO of one product in front of each way down.
Json behind_fifos(const Json& change = Json::object()) {
  Json plan = star({{"parameters", 36200000},
                    {"network",
                     {{"fidelity", nullptr},
                      {"topology", {{"star", {{"rate", "153.8Mbps"}, {"rtt", "20ms"}}}}},
                      {"tcp", {{"queue", "fifo"}, {"queue_size", 1}}}}}});
  plan.merge_patch(change);
  return plan;
}

// Hosts are no faster than routers, so that no FIFO of a ring fills. Both directions are busy: an
// acknowledgement of 90 bytes for two segments of 1538 takes its part of the other way. Windows are kept, so
// that each of 6 rounds takes 1 s and that part, 10 ms, and at most 0.4 ms that a packet waits for its host;
// the cold exchange loses less than a second more.
TEST(Verification, ARingThatFillsNoFifoTakesItsTime) {
  const Planned found(behind_fifos({{"candidates", {{"slow_start_after_idle", {false}}}}}));
  const PlanResult& result = found.result;
  ASSERT_TRUE(result.verification);
  const Verification& verification = *result.verification;
  ASSERT_EQ(verification.plans.size(), 1u) << "no other recipe";
  const VerifiedTime& time = verification.plans[0];
  EXPECT_EQ(time.words, result.choice().candidate.words);
  EXPECT_NEAR(time.estimated_s, 500 + 50 * 6.06, 1e-6);
  EXPECT_EQ(time.seeds, 5);
  EXPECT_EQ(time.replayed_steps, 80) << "four periods";
  EXPECT_EQ(time.segments, 4 * 6 * 4 * 12500) << "chunks of 18.1 MB";
  const double round_s = 1 + 90 / (2 * 1538.) + 0.01;
  EXPECT_GE(time.low_s, 500 + 50 * 6 * round_s - 0.1);
  EXPECT_LE(time.high_s, 500 + 50 * 6 * (round_s + 0.4e-3) + 1);
  EXPECT_LT(time.low_s, time.high_s) << "host noise is drawn";
  EXPECT_EQ(verification.residual, 0.25);
  EXPECT_FALSE(verification.has_taken_rival);
  const std::string said = decision(found.plan, result);
  EXPECT_SAYS(said, "That is with fair queues. Behind FIFOs of 1 bandwidth-delay product it takes 13 min ");
  EXPECT_SAYS(said, "over 5 seeds), replayed segment by segment (fidelity linux, measured to 25 % there).");
  EXPECT_SAYS(in_short(found.plan, result), ", behind its FIFOs; what to change:");
  // What is run is what was asked for.
  const Json network = chosen_scenario(found.plan, result)["network"];
  EXPECT_EQ(network["fidelity"], "linux");
  EXPECT_EQ(network["tcp"]["queue"], "fifo");
  EXPECT_EQ(network["tcp"]["queue_size"], 1);
  const Json data = plan_data(found.plan, result)["verification"];
  EXPECT_EQ(data["plans"][0]["seeds"], 5);
  EXPECT_EQ(data["plans"][0]["time_s"], time.mean_s);
}

// 300,000 segments an exchange: three periods are 900,000 and four 1.2 million.
TEST(Verification, TakesNoMoreSegmentsThanItMay) {
  const auto replayed = [](int most) {
    const Planned found(behind_fifos({{"verify_segments", most}}));
    const VerifiedTime& time = found.result.verification->plans[0];
    return std::pair(time.seeds, time.seeds > 0 ? time.replayed_steps / 20 : 0);
  };
  EXPECT_EQ(replayed(2500000), std::pair(2, 4));
  EXPECT_EQ(replayed(1100000), std::pair(1, 3));
  EXPECT_EQ(replayed(800000), std::pair(0, 0));
  const Planned found(behind_fifos({{"verify_segments", 0}}));
  EXPECT_SAYS(
      decision(found.plan, found.result),
      "Behind FIFOs of 1 bandwidth-delay product it is not verified: the choice takes about 900 k segments "
      "there, and verify_segments is 0; longhaul run replays scenario.json so.");
  EXPECT_SAYS(in_short(found.plan, found.result), ", with fair queues; what to change:");
  EXPECT_FALSE(plan_data(found.plan, found.result)["verification"]["plans"][0].contains("time_s"));
}

// In fidelity analytic, which shares no link, three chunks leave a node at once: an exchange of two rounds
// takes 2.02 s and is the choice, before a ring of half as many bytes, 3.06 s. But a node's link carries six
// chunks for the one, at least 6 s, and for the other half of that.
TEST(Verification, TheRivalIsTakenWhereItIsFaster) {
  const Json direct = {{"name", "diloco"}, {"all_reduce", "direct"}},
             ring = {{"name", "diloco"}, {"all_reduce", "ring"}, {"codec", "int8"}};
  const Planned found(
      behind_fifos({{"verify_segments", 2000000}, {"candidates", {{"methods", {direct, ring}}}}}));
  const PlanResult& result = found.result;
  const Verification& verification = *result.verification;
  ASSERT_EQ(verification.plans.size(), 2u);
  EXPECT_TRUE(verification.has_taken_rival);
  EXPECT_SAYS(result.choice().candidate.words, "ring");
  EXPECT_EQ(verification.plans[0].words, result.choice().candidate.words);
  EXPECT_NEAR(verification.plans[1].estimated_s, 500 + 50 * 2.02, 0.1);
  EXPECT_GE(verification.plans[1].low_s, 500 + 50 * 6.);
  EXPECT_GE(verification.plans[0].low_s, 500 + 50 * 3.);
  EXPECT_LT(verification.plans[0].high_s, verification.plans[1].low_s);
  ASSERT_EQ(result.search.of_choice.size(), 1u);
  EXPECT_EQ(result.search.of_choice[0].candidate.words, result.choice().candidate.words);
  EXPECT_LE(result.search.front, result.search.evaluations.size());
  EXPECT_SAYS(decision(found.plan, result), ", which is the better one with fair queues");
  EXPECT_EQ(chosen_scenario(found.plan, result)["methods"][0]["all_reduce"], "ring");
}

// Plans that name a fidelity, and those with fair queues, are as they were.
TEST(Verification, IsForFifosThatTheSearchCannotSee) {
  EXPECT_FALSE(Planned(star()).result.verification);
  EXPECT_FALSE(
      Planned(behind_fifos({{"network", {{"tcp", {{"queue", "fq_codel"}, {"queue_size", nullptr}}}}}}))
          .result.verification);
  EXPECT_EQ(refused_with([] {
              planned(behind_fifos({{"network", {{"fidelity", "flow"}}}}));
            }),
            "network.tcp.queue: found \"fifo\" with fidelity \"flow\"");
}

// Sites have `tcp` as network.tcp; their routers' FIFOs are between routers too.
TEST(Verification, SitesHaveFifosToo) {
  const Json plan = {{"sites",
                      {{{"name", "a"}, {"nodes", 2}, {"rate", "153.8Mbps"}},
                       {{"name", "b"}, {"nodes", 2}, {"rate", "153.8Mbps"}}}},
                     {"paths", {{{"between", {"a", "b"}}, {"rtt", "20ms"}}}},
                     {"tcp", {{"trunk_queue", "fifo"}, {"queue_size", 0.5}}},
                     {"parameters", 3620000},
                     {"tokens", 40000},
                     {"tokens_per_step", 100},
                     {"step_time", "0.5s"},
                     {"candidates",
                      {{"methods", {"diloco"}},
                       {"inner_steps", {20}},
                       {"all_reduce", {"ring"}},
                       {"rank_orders", {"blocks"}},
                       {"connections", {1}}}}};
  const Planned found(plan);
  ASSERT_TRUE(found.result.verification);
  EXPECT_SAYS(decision(found.plan, found.result),
              "Behind FIFOs of 0.5 bandwidth-delay products between routers ");
  EXPECT_TRUE(found.result.verification->is_replayed());
  Json refused = plan;
  refused["tcp"]["connections"] = 2;
  EXPECT_EQ(refused_with([&] { planned(refused); }), "tcp.connections: found in a plan");
  EXPECT_EQ(refused_with([] { planned(star({{"tcp", {{"queue", "fifo"}}}})); }), "tcp: found beside network");
}

}  // namespace longhaul::verification_test
