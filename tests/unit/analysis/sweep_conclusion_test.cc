// What a sweep says: every pair that is shown, what would decide the rest, and the same as compare says.
//
// Four methods with three seeds on four networks. Their losses do not depend on the network: six paired t
// tests whose p by scipy 1.17.1 (ttest_rel) are diloco-noloco 0.000770713, diloco-ddp 0.000135818,
// diloco-lion 3.20374e-05, noloco-ddp 0.127643, noloco-lion 7.6514e-05 and ddp-lion 6.74643e-06. statsmodels
// 0.15.0 (multipletests, holm) makes that 0.001541, 0.0004075, 0.0001602, 0.1276, 0.0003061 and 4.048e-05.
// Were the times of all networks in the same family, 76 tests, the first of them would be 0.05549.
#include <gtest/gtest.h>

#include <map>

#include "analysis/comparison/comparison.h"
#include "analysis/comparison/decision.h"
#include "analysis/comparison/decision_words.h"
#include "analysis/comparison/over_points.h"
#include "analysis/comparison/render.h"
#include "tests/support/said.h"
#include "tests/unit/analysis/compared_runs.h"

namespace longhaul::sweep_conclusion_test {

using Outcome = Comparison::Outcome;

const std::map<std::string, std::vector<double>> kLosses = {{"diloco", {6.41, 6.43, 6.44}},
                                                            {"noloco", {6.76, 6.78, 6.82}},
                                                            {"ddp", {6.79, 6.80, 6.825}},
                                                            {"lion", {7.43, 7.44, 7.47}}};
// ddp takes 8 times as long as diloco, noloco 1.02 times: within the network model's 7 %.
const std::map<std::string, double> kTimes = {{"diloco", 10}, {"noloco", 10.2}, {"ddp", 80}, {"lion", 20}};

RunDirectory sweep_of(int networks, std::size_t seeds = 3) {
  std::vector<Json> records;
  for (int network = 1; network <= networks; ++network)
    for (const auto& [label, losses] : kLosses)
      for (std::size_t i = 0; i < seeds; ++i) {
        const double jitter = 1 + 0.001 * static_cast<double>(i * i);
        records.push_back(compared_record(label, static_cast<int>(i) + 1, {{"rate", network}},
                                          {{"final_loss", losses[i]},
                                           {"simulated_time_s", network * kTimes.at(label) * jitter},
                                           {"tokens", 2048000},
                                           {"exchanges", 1},
                                           {"residual", 0.07}}));
      }
  return run_of(records);
}

std::string sentence_on(const std::string& metric, const Conclusions& conclusions) {
  for (const auto& [path, question] : decision_questions())
    if (path == metric) return over_points(path, question, conclusions.points);
  return "";
}

// noloco against ddp: a mean difference of 1.457 standard deviations, tested last and so at 5 %; statsmodels'
// TTestPower finds it with 80 % from 6 pairs on.
TEST(SweepConclusion, ALossIsAskedOnceAndEveryPairThatIsShownIsNamed) {
  const std::string said = sentence_on("final_loss", conclusions_of({sweep_of(4)}));
  EXPECT_SAYS(said, "At equal tokens (2.05 million), diloco is ahead, 6.4267 [");
  EXPECT_SAYS(said, "; noloco is at 6.7867, 0.3600 more [");
  EXPECT_SAYS(said, "; ddp is at 6.8050, 0.3783 more [");
  EXPECT_SAYS(said, "; lion is at 7.4467, 1.0200 more [");
  EXPECT_SAYS(said, "; noloco is ahead of lion (by 0.6600); ddp is ahead of lion (by 0.6417);");
  EXPECT_SAYS(said,
              "no difference between noloco and ddp is shown: it may be chance; about 6 seeds would decide.");
  EXPECT_SAYS(said, "The values are the same at all 4 points.");
}

// A point more or less of another question changes nothing that is said of a loss.
TEST(SweepConclusion, TheFamilyOfASentenceIsItsOwn) {
  const Conclusions one = conclusions_of({sweep_of(1)}), four = conclusions_of({sweep_of(4)});
  const std::string alone = in_words(one.points.at(0).decisions.at(0), one.points[0]).sentence;
  EXPECT_EQ(sentence_on("final_loss", four), alone + " The values are the same at all 4 points.");
  EXPECT_EQ(four.tests, std::vector<std::size_t>({6, 24}));
  EXPECT_SAYS(conclusions_markdown(four), "at all points where the values differ (6 to 24 tests)");
  EXPECT_SAYS(conclusions_markdown(four), "one of these 2 or more with at most 10 %");
}

// Nothing is ahead of all others, since diloco and noloco are too near: still ddp is behind all, and lion
// behind both. 20 is twice 10, and 1.96 times 10.2.
TEST(SweepConclusion, WhereNoneIsAheadOfAllThePairsAreNamed) {
  const std::string said = sentence_on("simulated_time_s", conclusions_of({sweep_of(4)}));
  EXPECT_SAYS(said, "; diloco has the shortest time at all 4 points;");
  EXPECT_SAYS(said, "diloco is ahead of lion (2 times as long) at all 4 points;");
  EXPECT_SAYS(said, "noloco is ahead of lion (1.96 times as long) at all 4 points;");
  EXPECT_SAYS(
      said, "In the time of the whole run: ddp is behind all others at all 4 points (4 to 8 times as long);");
  EXPECT_SAYS(
      said,
      "no difference between diloco and noloco is shown at all 4 points: the network model's error is as "
      "large.");
}

// The report and compare have the same verdicts and the same p, whatever else is asked for.
TEST(SweepConclusion, CompareSaysTheSame) {
  const RunDirectory run = sweep_of(4);
  const Conclusions conclusions = conclusions_of({run});
  std::size_t pairs = 0;
  for (const std::vector<std::string>& metrics : {std::vector<std::string>(),
                                                  {"final_loss"},
                                                  {"simulated_time_s"},
                                                  {"simulated_time_s", "final_loss"}}) {
    const ComparisonTable table = compare_runs({run}, {"method", metrics, {}});
    for (const MetricComparison& metric : table.metrics)
      for (const PointDecisions& point : conclusions.points)
        for (const Decision& decision : point.decisions) {
          if (decision.metric.path != metric.metric.path) continue;
          for (const ComparisonRow& row : metric.rows) {
            if (row.point != decision.row.point) continue;
            for (const auto* list : {&decision.others, &decision.further})
              for (const Decision::Against& pair : *list)
                for (const Comparison& comparison : row.comparisons) {
                  if (comparison.a != pair.comparison.a || comparison.b != pair.comparison.b) continue;
                  ++pairs;
                  EXPECT_EQ(comparison.corrected.p, pair.comparison.corrected.p);
                  EXPECT_EQ(comparison.seeds_needed, pair.comparison.seeds_needed);
                  EXPECT_EQ(comparison.outcome == Outcome::kNone, pair.doubt != Decision::Doubt::kNone);
                }
          }
        }
  }
  EXPECT_GE(pairs, 2u * 4 * 6);  // two metrics, four points, six pairs, at least once
}

TEST(SweepConclusion, PAndSeedsAreTheReferences) {
  const ComparisonTable table = compare_runs({sweep_of(4)}, {"method", {}, {}});
  const MetricComparison& loss = table.metrics.at(0);
  ASSERT_EQ(loss.metric.path, "final_loss");
  EXPECT_EQ(loss.tests, 6u);
  ASSERT_EQ(loss.rows.size(), 1u);
  const std::map<std::string, std::pair<double, std::size_t>> expected = {
      {"ddp diloco", {0.0004075, 0}}, {"diloco noloco", {0.001541, 0}}, {"diloco lion", {0.0001602, 0}},
      {"ddp noloco", {0.1276, 6}},    {"lion noloco", {0.0003061, 0}},  {"ddp lion", {4.048e-05, 0}}};
  std::size_t met = 0;
  for (const Comparison& comparison : loss.rows[0].comparisons) {
    const auto& groups = loss.rows[0].groups;
    const auto [p, seeds] = expected.at(groups[comparison.a].name + " " + groups[comparison.b].name);
    EXPECT_NEAR(comparison.corrected.p / p, 1, 1e-3)
        << groups[comparison.a].name << groups[comparison.b].name;
    EXPECT_EQ(comparison.seeds_needed, seeds);
    ++met;
  }
  EXPECT_EQ(met, expected.size());
  EXPECT_SAYS(comparison_markdown(table), "p = 0.13, about 6 seeds would decide");
}

// One seed: no p, no spread; five seeds find three standard deviations at 5 % / 6.
TEST(SweepConclusion, OfOneSeedItSaysHowManyAreNeeded) {
  const std::string said = sentence_on("final_loss", conclusions_of({sweep_of(2, 1)}));
  EXPECT_SAYS(said, "one seed shows nothing; 5 seeds would find a difference of three standard deviations");
}

// Eight methods whose losses differ by their own place and nothing else: one sentence names all in their
// order, without a lead for each of the 28 pairs.
TEST(SweepConclusion, OfManyMethodsThoseWithTheSameBehindThemStandTogether) {
  std::vector<Json> records;
  for (const int rate : {1, 2})
    for (int place = 0; place < 6; ++place)
      for (int seed = 1; seed <= 3; ++seed) {
        const double noise = 0.01 * ((seed * (place + 1) * rate) % 3);
        records.push_back(compared_record(std::string(1, static_cast<char>('a' + place)), seed,
                                          {{"rate", rate}},
                                          {{"final_loss", 2. + place / 2 + noise}, {"exchanges", 1}}));
      }
  const std::string said = sentence_on("final_loss", conclusions_of({run_of(records)}));
  EXPECT_SAYS(
      said, "a and b are ahead of c, d, f and e at both points; c and d are ahead of f and e at both points");
}

}  // namespace longhaul::sweep_conclusion_test
