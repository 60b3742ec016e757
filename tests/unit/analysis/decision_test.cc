// What to conclude, on runs whose curves are straight lines.
//
// Seed s of method a falls from 5 at 0 s to 3 + e at 10 s and 100 bytes, of b from 5 to 2 + e at 20 s and 400
// bytes, with e = 0, 0.01, 0.02. So a is ahead after 10 s (b is at 3.5 + e/2) and after 100 bytes (b is at
// 4.25 + e/4), and b at the end.
#include "analysis/comparison/decision.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>

#include "analysis/claims/claims.h"
#include "analysis/comparison/decision_words.h"
#include "analysis/comparison/equal_budget.h"
#include "analysis/report/point_tables.h"
#include "tests/support/files.h"
#include "tests/support/said.h"
#include "tests/unit/analysis/compared_runs.h"

namespace longhaul::decision_test {

class Conclusion : public testing::Test {
 protected:
  void add(const std::string& label, int seed, double end_s, double bytes, double loss,
           const Json& more = Json::object(), const Json& swept = Json::object(),
           const std::string& start = "0,plain,mean,0,5,5,0,0\n") {
    Json numbers = {{"final_loss", loss}, {"simulated_time_s", end_s}, {"tokens", 2048000}, {"exchanges", 1}};
    numbers.update(more);
    Json record = compared_record(label, seed, swept, numbers);
    record["case"] = label + std::to_string(run_.records.size());
    write_text(run_.case_folder(record) + "/metrics.csv",
               fmt::format("step,phase,replica,simulated_s,loss,loss_of_mean,weight_spread,bytes_sent\n"
                           "{}9,plain,mean,{},{},2,0,{}\n",
                           start, end_s, loss, bytes));
    run_.records.push_back(record);
  }

  void add_lines(int seeds, double residual = 0.07) {
    for (int seed = 1; seed <= seeds; ++seed) {
      const double e = 0.01 * (seed - 1);
      add("a", seed, 10, 100, 3 + e, {{"residual", residual}});
      add("b", seed, 20, 400, 2 + e, {{"residual", residual}});
    }
  }

  void add_times(const std::map<std::string, double>& times) {
    for (int seed = 1; seed <= 3; ++seed)
      for (const auto& [label, end_s] : times) add(label, seed, end_s, 1, 3);
  }

  // A decision and what is said of it.
  struct Said : Decision, DecisionWords {
    std::string leads;  // the name of the first
  };

  static Said at(const Conclusions& conclusions, const std::string& metric) {
    const PointDecisions& point = conclusions.points.at(0);
    for (const Decision& decision : point.decisions)
      if (decision.metric.path == metric)
        return {decision, in_words(decision, point), decision.leader().name};
    throw std::logic_error("no decision on " + metric);
  }
  Said at(const std::string& metric) const { return at(conclusions_of({run_}), metric); }

  TemporaryFolder folder_;
  RunDirectory run_ = run_of({}, folder_.path);
};

// Of the differences 0.5, 0.495, 0.49 the mean is 0.495; of 1, 1, 1 it is exact.
TEST_F(Conclusion, SaysWhoIsAheadAtEqualTokensTimeAndBytes) {
  add_lines(3);
  const Conclusions all = conclusions_of({run_});
  const Said tokens = at(all, "final_loss"), time = at(all, "loss@equal_time"),
             bytes = at(all, "loss@equal_bytes");
  EXPECT_EQ(tokens.leads, "b");
  EXPECT_EQ(tokens.doubt, Decision::Doubt::kNone);
  EXPECT_NEAR(tokens.lead, 1, 1e-12);
  EXPECT_SAYS(tokens.sentence, "At equal tokens (2.05 million), b is ahead");
  EXPECT_EQ(time.leads, "a");
  EXPECT_EQ(time.doubt, Decision::Doubt::kNone);
  EXPECT_NEAR(time.lead, 0.495, 1e-12);
  EXPECT_SAYS(time.sentence, "After the same simulated time (10 s, when a ends), a is ahead");
  EXPECT_SAYS(time.sentence, "b is at 3.5050, 0.4950 more [");
  EXPECT_EQ(bytes.leads, "a");
  EXPECT_NEAR(bytes.lead, 4.2525 - 3.01, 1e-12);
  EXPECT_SAYS(bytes.sentence, "(100 B sent by a replica, when a ends)");
  EXPECT_SAYS(all.conditions, "8 replicas, 3 seeds");
  EXPECT_TRUE(over_all_points(all).empty());
  // Markdown and JSON have the same sentences.
  const Json json = conclusions_json(all)["points"][0]["decisions"];
  ASSERT_EQ(json.size(), all.points[0].decisions.size());
  for (const Json& entry : json)
    EXPECT_SAYS(conclusions_markdown(all), "\n- " + entry["sentence"].get<std::string>() + "\n") << entry;
  EXPECT_EQ(json[0]["first"], "b");
}

// With 7 % a's clock may be late by 0.93 / 1.07: at 8.69 s it is at 3.26 + ..., still below b's 3.5. With the
// 18 % it is 6.95 s and 3.61.
TEST_F(Conclusion, ALeadAtEqualTimeMustStandTheNetworkModelsError) {
  add_lines(3, 0.18);
  const Said time = at("loss@equal_time");
  EXPECT_EQ(time.doubt, Decision::Doubt::kNetworkModel);
  EXPECT_SAYS(time.sentence, "no difference is shown between a");
  EXPECT_SAYS(time.sentence, "the network model's error of 18 % in the times can turn the difference");
}

// 10, 11 and 11.2 s: none is 1.07 / 0.93 = 1.15 times another.
TEST_F(Conclusion, NobodyIsCalledFastestWhoIsShownAheadOfNobody) {
  add_times({{"a", 10}, {"b", 11}, {"c", 11.2}});
  EXPECT_SAYS(at("simulated_time_s").sentence,
              "In the time of the whole run, none is shown to be fastest: a takes 10 s; no "
              "difference to b");
}

TEST_F(Conclusion, OfOneSeedItSaysWhyNothingIsShown) {
  add_lines(1);
  const Said tokens = at("final_loss");
  EXPECT_EQ(tokens.doubt, Decision::Doubt::kOneSeed);
  EXPECT_EQ(
      tokens.sentence,
      "At equal tokens (2.05 million), no difference is shown between b (2.0000) and a (3.0000): one seed "
      "shows nothing; 4 seeds would find a difference of three standard deviations.");
}

// A ratio that rounds to one is said to the digit that differs.
TEST_F(Conclusion, ARatioNearOneIsNotOne) {
  add_times({{"a", 10}, {"b", 20}, {"c", 20.008}});
  for (Json& record : run_.records) record["residual"] = 0;
  const Said time = at(conclusions_of({run_}), "simulated_time_s");
  EXPECT_EQ(time.parts.at(2).words, "b is ahead of c (1.0004 times as long)");
}

// 10 s and 11 s: 1.1, and 1.1 · 0.93 / 1.07 = 0.956, 1.1 · 1.07 / 0.93 = 1.266. Each comparison has its own
// badge: c is behind, b is not shown to be. Between equals there is nothing to badge.
TEST_F(Conclusion, OfTimesItSaysWhatTheNetworkModelMakesOfTheRatioAndBadgesEach) {
  add_times({{"a", 10}, {"b", 11}, {"c", 40}});
  const Conclusions all = conclusions_of({run_});
  const Said time = at(all, "simulated_time_s"), loss = at(all, "final_loss");
  EXPECT_EQ(time.doubt, Decision::Doubt::kNetworkModel);
  EXPECT_SAYS(time.sentence, "a is fastest, 10 s");
  EXPECT_SAYS(time.sentence, "a ratio of 1.1; the network model's 7 % make that 0.956 to 1.27");
  EXPECT_SAYS(time.sentence, "c takes 40 s, 4 times as long (3.48 to 4.6 with the network model's 7 %)");
  EXPECT_EQ(loss.doubt, Decision::Doubt::kEqual);
  ASSERT_EQ(time.parts.size(), 3u);
  EXPECT_EQ(time.parts[2].badge, "shown");
  EXPECT_EQ(time.parts[2].words, "b is ahead of c (3.64 times as long)");
  EXPECT_EQ(time.parts[0].badge, "shown");
  EXPECT_EQ(time.parts[0].others, std::vector<std::string>{"c"});
  EXPECT_EQ(time.parts[1].badge, "undecided");
  EXPECT_EQ(time.parts[1].others, std::vector<std::string>{"b"});
  EXPECT_TRUE(loss.parts.empty());
  EXPECT_EQ(loss.sentence, "At equal tokens (2.05 million), all three are at 3.0000.");
  EXPECT_SAYS(conclusions_json(all).dump(), R"("others":["b"],"badge":"undecided")");
}

// Ratios of seeds 2, 2.2 and 2.4: mean 2.2, t(0.975, 2) = 4.3027, standard error 0.2/√3: 2.2 ± 0.4968. With 7
// % that is 1.7032 · 0.93/1.07 = 1.4803 to 2.6968 · 1.07/0.93 = 3.1028, in the sentence and in the claim.
TEST_F(Conclusion, ARatioIsTheClaimsRatio) {
  for (int seed = 1; seed <= 3; ++seed) {
    add("a", seed, 10, 1, 3);
    add("b", seed, 18 + 2 * seed, 1, 3);
  }
  const std::string said = at("simulated_time_s").sentence;
  EXPECT_SAYS(said, "2.2 times as long [1.7, 2.7] (1.48 to 3.1 with the network model's 7 %)");
  const Json claim = {{"id", "c"}, {"ratio", "simulated_time_s"}, {"of", "b"}, {"to", "a"}, {"at_least", 9}};
  EXPECT_SAYS(verdict_grounds(judge_claims(Json::array({claim}), run_.records)[0]),
              "is 2.2 [1.7, 2.7] over 3 seeds; the network model's 7 % make that 1.48 to 3.1");
}

TEST_F(Conclusion, OfEqualsItSaysThatAllTakeTheSame) {
  add_times({{"a", 299.9}, {"b", 299.9}, {"c", 299.9}});
  EXPECT_EQ(at("simulated_time_s").sentence, "In the time of the whole run, all three take 4 min 59.9 s.");
}

// c ends its first evaluation behind the end of a.
TEST_F(Conclusion, WhoWasNotEvaluatedByThenIsNamed) {
  add_lines(3);
  for (int seed = 1; seed <= 3; ++seed) add("c", seed, 90, 900, 1, Json::object(), Json::object(), "");
  const Said time = at("loss@equal_time");
  ASSERT_FALSE(time.parts.empty());
  EXPECT_EQ(time.parts.back().badge, "not compared");
  EXPECT_SAYS(time.sentence, "; c had not been evaluated by then.");
}

TEST_F(Conclusion, ATargetThatSomeMissIsCounted) {
  for (int seed = 1; seed <= 5; ++seed) {
    add("a", seed, 10, 1, 3, {{"target_loss", 2.5}, {"time_to_target_s", nullptr}});
    add("b", seed, 20, 1, 2, {{"target_loss", 2.5}, {"time_to_target_s", 16}});
  }
  const Said target = at("time_to_target_s");
  EXPECT_EQ(target.leads, "b");
  EXPECT_SAYS(target.sentence, "To the target loss of 2.5, b is ahead, 16 s");
  EXPECT_SAYS(target.sentence, "a never reached");
}

TEST_F(Conclusion, OverASweepItCountsThePoints) {
  for (const int rate : {1, 2, 3})
    for (int seed = 1; seed <= 3; ++seed) {
      const Json swept = {{"rate", rate}};
      add("a", seed, 10. * rate, 1, 3, Json::object(), swept);
      add("b", seed, 40, 1, 3, Json::object(), swept);
    }
  const Conclusions all = conclusions_of({run_});
  ASSERT_EQ(all.points.size(), 3u);
  EXPECT_EQ(all.points[1].at, "rate = 2");
  EXPECT_SAYS(conclusions_markdown(all),
              "\n- In the time of the whole run: a is ahead at all 3 points (the next takes 1.33 to 4 "
              "times as long).\n");
  EXPECT_SAYS(all.conditions, "swept: rate");
}

TEST_F(Conclusion, OfOneMethodThereIsNone) {
  add("a", 1, 10, 1, 3);
  EXPECT_TRUE(conclusions_of({run_}).empty());
  run_.records[0]["status"] = "failed";
  EXPECT_TRUE(conclusions_of({run_}).empty());
  EXPECT_EQ(conclusions_markdown({}), "");
}

// At 2.5, 5 and 10 s a is at 4.5 + e/4, 4 + e/2 and 3 + e, mean e 0.01; half widths are 4.3027 · 0.01/√3
// times these: 0.0062, 0.0124, 0.0248. b ends later: 4.625 + e/8, 4.25 + e/4, 3.5 + e/2.
TEST_F(Conclusion, TablesAreAtAQuarterAHalfAndTheWholeOfWhatTheFirstHasUsed) {
  add_lines(3);
  const Json tables = equal_losses(run_, run_.records);
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0]["kind"], "time");
  EXPECT_EQ(tables[0]["first"], "a");
  EXPECT_EQ(tables[0]["columns"], Json({"2.5 s", "5 s", "10 s"}));
  EXPECT_EQ(tables[0]["rows"][0]["cells"], Json({"4.503 ± 0.006", "4.005 ± 0.012", "3.010 ± 0.025"}));
  EXPECT_EQ(tables[0]["rows"][1]["cells"], Json({"4.626 ± 0.003", "4.253 ± 0.006", "3.505 ± 0.012"}));
  EXPECT_EQ(tables[1]["columns"], Json({"25 B", "50 B", "100 B"}));
  EXPECT_TRUE(equal_losses(run_, {run_.records[0]}).empty());
}

// a ends with an outer step, from 3 to 2: with seeds 1 to 3 after 10, 11 and 12 s, or after 10 s and some
// microseconds. Each seed of a counts with the step, and b, on the line from 5 to 1 in 20 s, at the same
// time: 3, 2.8, 2.6; or 3, to a microsecond, with all.
TEST_F(Conclusion, EachSeedEndsWhenItEnds) {
  for (const double apart_s : {1., 3e-6}) {
    run_.records.clear();
    for (int seed = 1; seed <= 3; ++seed) {
      const double end_s = 10 + apart_s * (seed - 1);
      add("a", seed, end_s, 100, 2, Json::object(), Json::object(),
          fmt::format("0,plain,mean,0,5,5,0,0\n9,before,mean,{},3,3,0,0\n", end_s));
      add("b", seed, 20, 400, 1);
    }
    const Json tables = equal_losses(run_, run_.records);
    EXPECT_EQ(tables[0]["columns"][2], apart_s == 1 ? "11 s" : "10 s");
    EXPECT_EQ(tables[0]["rows"][0]["cells"][2], "2.000");
    EXPECT_SAYS(tables[0]["rows"][1]["cells"][2].get<std::string>(),
                apart_s == 1 ? "2.800 ± 0.497" : "3.000");
  }
}

// An outer step from 4 to 3 after half of the time, and some microseconds more with each seed: all have made
// it.
TEST_F(Conclusion, MicrosecondsPartNoSteps) {
  for (int seed = 1; seed <= 3; ++seed) {
    const double step_s = 5 + 2e-6 * (seed - 2);
    add("a", seed, 10, 100, 2, Json::object(), Json::object(),
        fmt::format("0,plain,mean,0,5,5,0,0\n4,before,mean,{0:.9f},4,4,0,0\n4,after,mean,{0:.9f},3,3,0,50\n",
                    step_s));
    add("b", seed, 20, 400, 1);
  }
  EXPECT_EQ(equal_losses(run_, run_.records)[0]["rows"][0]["cells"][1], "3.000");
}

// What never sends is no bound on the bytes of others, and has its whole training for nothing.
TEST_F(Conclusion, WhoSendsNothingBoundsNoBytes) {
  add("alone", 1, 10, 0, 4);
  add("a", 1, 10, 100, 3);
  const RowCurves curves(
      {{"alone", "alone", {{&run_, &run_.records[0]}}, {}}, {"a", "a", {{&run_, &run_.records[1]}}, {}}});
  ASSERT_TRUE(curves.horizon(Budget::kBytes).has_value());
  EXPECT_EQ(curves.horizon(Budget::kBytes)->budget, 100);
  EXPECT_EQ(curves.losses(0, Budget::kBytes, 1).at(0).value, 4);
}

// Seeds 1 to 3 of all, and a fourth of b and c that is far off: over the seeds that both have b is 0.5 behind
// a, and c 0.1 ahead of it, although its mean of four is higher.
TEST_F(Conclusion, OtherSeedsPutNobodyAhead) {
  for (int seed = 1; seed <= 4; ++seed) {
    const double loss = seed == 4 ? 9 : 3 + 0.1 * seed;
    if (seed < 4) add("a", seed, 10, 100, loss);
    add("b", seed, 10, 100, seed == 4 ? 9 : loss + 0.5);
  }
  EXPECT_NEAR(at(conclusions_of({run_}), "final_loss").lead, 0.5, 1e-9);
  for (int seed = 1; seed <= 4; ++seed) add("c", seed, 10, 100, seed == 4 ? 9 : 2.9 + 0.1 * seed);
  const Said loss = at(conclusions_of({run_}), "final_loss");
  EXPECT_EQ(loss.leads, "a");
  EXPECT_EQ(loss.doubt, Decision::Doubt::kOtherSeeds);
  EXPECT_SAYS(loss.sentence, "a has the lowest loss");
  EXPECT_SAYS(loss.sentence, "is shown: over the seeds that both have the order is the other one");
}

}  // namespace longhaul::decision_test
