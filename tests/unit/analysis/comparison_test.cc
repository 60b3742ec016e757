#include "analysis/comparison/comparison.h"

#include <gtest/gtest.h>

#include "analysis/comparison/metric.h"
#include "analysis/comparison/render.h"
#include "core/base/random.h"
#include "core/scenario/pipeline.h"
#include "tests/support/files.h"
#include "tests/support/said.h"
#include "tests/unit/analysis/compared_runs.h"

namespace longhaul::comparison_test {

using Outcome = Comparison::Outcome;

const Json kConnections1 = {{"network.tcp.connections", 1}}, kConnections4 = {{"network.tcp.connections", 4}},
           kConnections8 = {{"network.tcp.connections", 8}};

ComparisonTable compare(const std::vector<Json>& records, const std::string& metric,
                        const std::string& by = "method", const std::vector<std::string>& where = {},
                        double margin = 0) {
  return compare_runs({run_of(records)}, {by, {metric}, where, {}, margin});
}

std::string problem_of(const std::vector<Json>& records, const ComparisonRequest& request) {
  return said_by([&] { compare_runs({run_of(records)}, request); });
}

// A label may hold what separates: of `--where` a key of the cases is meant, of `--pair` two of the names.
TEST(Comparison, LabelsMayHoldSeparators) {
  std::vector<Json> records;
  for (const int h : {10, 20})
    for (const Json& record :
         losses_of({{"a=b:c", {3.1, 5.2}}, {"base", {3.0 + h, 5.0 + h}}}, {{"methods.a=b:c.inner_steps", h}}))
      records.push_back(record);
  const auto rows =
      compare_runs({run_of(records)},
                   {"method", {"final_loss"}, {"methods.a=b:c.inner_steps=10"}, {"a=b:c:base"}, 0})
          .metrics[0]
          .rows;
  ASSERT_EQ(rows.size(), 1u);
  ASSERT_EQ(rows[0].groups.size(), 2u);
  EXPECT_NEAR(rows[0].groups[1].mean, 14, 1e-12) << "of H 10";
  EXPECT_EQ(rows[0].comparisons.size(), 1u);
}

// Differences 0.1, 0.2, 0.3: mean 0.2, standard error 0.1/√3, t = 3.464 with 2 degrees of freedom, p =
// 1 − t/√(t² + 2) = 0.0742 (the closed form for two). No difference shown at 5 %.
TEST(Comparison, PairsBySeedWhateverTheOrder) {
  std::vector<Json> records = losses_of({{"diloco", {3.1, 5.2, 4.3}}, {"noloco", {3.0, 5.0, 4.0}}});
  std::swap(records[0], records[2]);
  const auto rows = compare(records, "final_loss").metrics[0].rows;
  ASSERT_EQ(rows.size(), 1u);
  const ComparisonRow& row = rows[0];
  EXPECT_EQ(row.at, "");
  EXPECT_NEAR(row.groups[0].mean, 4.2, 1e-12);
  ASSERT_EQ(row.comparisons.size(), 1u);
  const Comparison& comparison = row.comparisons[0];
  EXPECT_EQ(comparison.test, Comparison::Test::kPaired);
  EXPECT_EQ(comparison.seeds, 3u);
  EXPECT_NEAR(comparison.difference.mean, 0.2, 1e-12);
  const double t = 0.2 / (0.1 / std::sqrt(3.));
  EXPECT_NEAR(comparison.difference.p, 1 - t / std::sqrt(t * t + 2), 1e-9);
  EXPECT_EQ(comparison.outcome, Outcome::kNone);
}

// Differences 0.01, 0.02, 0.03: mean 0.02, standard error 0.01/√3, and with 2 degrees of freedom the 97.5th
// percentile of t is 4.3027: the interval is 0.02 ± 0.02484.
TEST(Comparison, IsEquivalentWhereTheWholeIntervalLiesWithinTheMargin) {
  const auto records = losses_of({{"diloco", {3.01, 5.02, 4.03}}, {"noloco", {3.0, 5.0, 4.0}}});
  for (const auto& [margin, is_equivalent] : {std::pair{0.0449, true}, {0.0448, false}}) {
    const ComparisonTable table = compare(records, "final_loss", "method", {}, margin);
    const Comparison comparison = first_of(table);
    EXPECT_NEAR(comparison.interval.high, 0.04484, 1e-5);
    EXPECT_EQ(comparison.is_equivalent, is_equivalent) << margin;
    EXPECT_EQ(comparison.outcome, Outcome::kNone);
    EXPECT_SAYS(comparison.remark, is_equivalent ? "equal to within" : "not shown equal");
    EXPECT_NEAR(comparison.detectable, 0.01 * detectable_effect(3, 0.05, 0.8), 1e-9);
    EXPECT_SAYS(join(table.notes), "would be found in 80 % of cases");
  }
}

// Differences 0.1, 0.0, 0.2: 0.1 ± 0.2484. Each time is right to 7 %, which adds 0.07 (10.1 + 10) = 1.407.
TEST(Comparison, TimesAreEquivalentWhereTheModelsErrorLeavesThemWithinTheMargin) {
  const std::string times = "simulated_time_s";
  const auto records = values_of(times, {{"a", {10.1, 10.0, 10.2}}, {"b", {10.0, 10.0, 10.0}}});
  for (const auto& [margin, is_equivalent] : {std::pair{1.76, true}, {1.75, false}}) {
    const Comparison comparison = first_of(compare(records, times, "method", {}, margin));
    EXPECT_NEAR(comparison.interval.high, 0.3484, 1e-4);
    EXPECT_EQ(comparison.is_equivalent, is_equivalent) << margin;
  }
  // What seeds can find, 0.1 standard deviations of a difference wide, and the 1.407 s on top of it.
  const std::string found = value_text(metric_named(times), 0.1 * detectable_effect(3, 0.05, 0.8) + 1.407);
  EXPECT_SAYS(join(compare(records, times, "method", {}, 1).notes),
              "and the network model's error a difference of " + found + " in");
}

// What is asked twice, a pair either way round or a metric, is one test and not two.
TEST(Comparison, PlannedPairsAreTheWholeFamily) {
  const std::vector<Json> records =
      losses_of({{"a", {3.1, 5.2, 4.3}}, {"b", {3.0, 5.0, 4.0}}, {"c", {2.0, 4.0, 3.1}}});
  const ComparisonTable table =
      compare_runs({run_of(records)}, {"method", {"final_loss", "final_loss"}, {}, {"c:a", "c:a", "a:c"}});
  const ComparisonRow& row = table.metrics[0].rows[0];
  ASSERT_EQ(row.comparisons.size(), 1u);
  EXPECT_EQ(row.groups[row.comparisons[0].a].name, "c");  // in the order that was asked for
  EXPECT_NEAR(row.comparisons[0].difference.mean, -(1.1 + 1.2 + 1.2) / 3, 1e-12);
  EXPECT_EQ(table.tests, 1u);
  EXPECT_EQ(row.comparisons[0].corrected.p, row.comparisons[0].difference.p);
}

// Seeds 1 and 2 are shared, 3 is diloco's alone; or none is.
TEST(Comparison, SaysWhichSeedsThePairsLeaveOut) {
  const Comparison comparison =
      first_of(compare(losses_of({{"diloco", {3.1, 3.2, 3.3}}, {"noloco", {3.0, 3.0}}}), "final_loss"));
  EXPECT_EQ(comparison.seeds, 2u);
  EXPECT_EQ(comparison.remark, "1 unpaired seed left out");
  std::vector<Json> records = losses_of({{"diloco", {3.1, 3.2, 3.3}}});
  for (int seed = 11; seed < 14; ++seed)
    records.push_back(compared_record("noloco", seed, {{"final_loss", 2. + 0.1 * seed}}));
  EXPECT_EQ(first_of(compare(records, "final_loss")).test, Comparison::Test::kWelch);
}

// Of a loss, lower is better: ComparisonRender.
TEST(Comparison, OfWhatIsNeitherGoodNorBadLowerIsOnlyLower) {
  const std::vector<Json> records = values_of("weight_spread", {{"a", {1., 1., 1.}}, {"b", {2., 2., 2.}}});
  EXPECT_EQ(first_of(compare(records, "weight_spread")).outcome, Outcome::kLower);
}

// One training under two networks is one row, and one test and not two.
TEST(Comparison, WhatDiffersBesidesTheMethodMakesRowsUnlessTheValuesAreTheSame) {
  std::vector<Json> records;
  for (const Json& point : {kConnections1, kConnections4}) {
    add_losses(records, "a", {1, 2}, point);
    add_losses(records, "b", {1.5, 2.25}, point);
  }
  add_losses(records, "a", {1.5, 2}, kConnections8);
  add_losses(records, "b", {2, 2}, kConnections8);
  const ComparisonTable table = compare(records, "final_loss");
  const auto& rows = table.metrics[0].rows;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(table.tests, 2u);
  EXPECT_EQ(rows[0].at, "network.tcp.connections = 1");
  EXPECT_EQ(rows[0].same_at, std::vector<Json>{kConnections4});
  EXPECT_EQ(rows[1].point, kConnections8);
  EXPECT_EQ(rows[1].groups[1].name, "b");
  EXPECT_EQ(rows[1].groups[1].mean, 2);
  const std::string only = "network.tcp.connections=8";
  EXPECT_EQ(compare(records, "final_loss", "method", {only}).metrics[0].rows.size(), 1u);
}

TEST(Comparison, VariantsOfAMethodAreComparedByTheirOptions) {
  std::vector<Json> records = losses_of({{"diloco", {1, 2}}}, {{"methods.diloco.outer_lr", 0.5}});
  add_losses(records, "diloco", {2, 3}, {{"methods.diloco.outer_lr", 0.7}});
  add_losses(records, "ddp", {2, 2});
  const ComparisonRow row = compare(records, "final_loss").metrics[0].rows.at(0);
  ASSERT_EQ(row.groups.size(), 3u);
  EXPECT_EQ(row.groups[1].name, "diloco (outer_lr = 0.7)");
  const ComparisonTable by_rate = compare(records, "final_loss", "methods.diloco.outer_lr");
  ASSERT_EQ(by_rate.metrics[0].rows.size(), 1u);
  EXPECT_EQ(by_rate.metrics[0].rows[0].groups[0].name, "0.5");
  EXPECT_SAYS(join(by_rate.notes), "2 cases have no methods.diloco.outer_lr");
}

// Seeds in runs of their own, the same scenario otherwise, are one group; a repeated seed is no second one.
TEST(Comparison, SeedsMayComeFromSeveralRuns) {
  const std::vector<RunDirectory> runs = {run_of(losses_of({{"a", {1, 2}}}), "one"),
                                          run_of(losses_of({{"a", {1, 2, 4}}}), "two")};
  const ComparisonTable table = compare_runs(runs, {"method", {}, {}});
  EXPECT_EQ(table.metrics[0].rows[0].groups[0].values.size(), 3u);
  EXPECT_SAYS(join(table.notes), "2 cases repeat a configuration and seed");
  const auto by_run = compare_runs(runs, {"run", {}, {}}).metrics[0].rows[0].groups;
  ASSERT_EQ(by_run.size(), 2u);
  EXPECT_EQ(by_run[1].name, "two");
}

// What has one value in each run is what the run is; what is swept inside the runs makes rows. In "one" H is
// 5 and 20 tokens are swept, in "two" H is 10: of each length both runs stand in a row.
TEST(Comparison, RunsThatDifferAreComparedAndWhatDiffersIsSaid) {
  std::vector<RunDirectory> runs;
  for (const auto& [name, inner_steps] : {std::pair("one", 5), std::pair("two", 10)}) {
    std::vector<Json> records;
    for (const int replicas : {8, 16}) {
      records.push_back(compared_record("ddp", 1, {{"replicas", replicas}},
                                        {{"replicas", replicas}, {"final_loss", 1. * replicas}}));
      records.push_back(
          compared_record("diloco", 1, {{"replicas", replicas}, {"methods.diloco.inner_steps", inner_steps}},
                          {{"replicas", replicas}, {"final_loss", 1. * replicas + inner_steps}}));
    }
    runs.push_back(run_of(records, name));
  }
  const ComparisonTable table = compare_runs(runs, {"run", {"final_loss"}, {}});
  ASSERT_EQ(table.metrics[0].rows.size(), 4u) << "two methods at two sizes";
  for (const ComparisonRow& row : table.metrics[0].rows) {
    ASSERT_EQ(row.groups.size(), 2u) << row.point;
    const double replicas = row.point["replicas"], is_diloco = row.point["label"] == "diloco";
    EXPECT_DOUBLE_EQ(row.groups[0].values.at(0).value, replicas + 5 * is_diloco);
    EXPECT_DOUBLE_EQ(row.groups[1].values.at(0).value, replicas + 10 * is_diloco);
  }
  EXPECT_SAYS(join(table.notes), "The runs differ in methods.diloco.inner_steps (5 in one, 10 in two).");
}

// Of tokens a second more is better, of a loss less.
TEST(Comparison, SaysBetterOfWhatIsHigher) {
  std::vector<Json> records;
  for (const int seed : {1, 2, 3, 4, 5})
    for (const auto& [label, pace] : {std::pair("fast", 200.), std::pair("slow", 100.)})
      records.push_back(compared_record(
          label, seed, {{"tokens_per_s", pace + 0.1 * seed}, {"final_loss", pace / 100 + 0.001 * seed}}));
  const ComparisonTable table =
      compare_runs({run_of(records)}, {"method", {"tokens_per_s", "final_loss"}, {}});
  EXPECT_EQ(table.metrics.at(0).rows.at(0).comparisons.at(0).outcome, Outcome::kBetter);
  EXPECT_EQ(table.metrics.at(1).rows.at(0).comparisons.at(0).outcome, Outcome::kWorse);
}

// What case.json says beyond the record tells runs apart.
TEST(Comparison, TheResolvedCaseSaysWhatDiffers) {
  TemporaryFolder folder;
  std::vector<RunDirectory> runs;
  for (const int steps : {100, 200}) {
    const Json record = compared_record("a", 1, {{"final_loss", 1. / steps}});
    runs.push_back(run_of({record}, folder.path + "/" + std::to_string(steps)));
    Json resolved = {{"seed", 1}, {"replicas", 8}, {"train", {{"steps", steps}}}};
    resolved["method"] = {{"name", "a"}, {"label", "a"}};
    write_text(runs.back().case_folder(record) + "/case.json", resolved.dump());
  }
  const auto rows = compare_runs(runs, {"method", {"final_loss"}, {}}).metrics[0].rows;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].at, "train.steps = 200");
}

// 20 ms that stick out, against nothing: with 7 % of the exchange behind it that may be nothing too.
TEST(Comparison, WhatIsLeftBesideComputeIsNotOffByAFactor) {
  for (const double low_s : {0., 0.019}) {
    std::vector<Json> records =
        values_of("exposed_s.p50", {{"a", {0.02, 0.0201, 0.0199}}, {"b", {0., 0., 0.}}});
    for (Json& record : records) {
      record["residual"] = 0.07;
      record["possible"] = {{"exposed_s.p50", {0, 0}}};
      if (record["label"] == "a") record["possible"] = {{"exposed_s.p50", {low_s, 0.0215}}};
    }
    const ComparisonTable table = compare(records, "exposed_s.p50");
    const Comparison& comparison = table.metrics[0].rows.at(0).comparisons.at(0);
    EXPECT_EQ(comparison.outcome == Outcome::kWorse, low_s > 0) << low_s;
  }
}

// a takes 1.8 times as long as b in each of five seeds, which differ much among themselves: 1 to 5 s. With 25
// % of both against it 1.35 b is left over 1.25 b, a tenth of b's 3 s on average, 0.158 s of deviation:
// [0.104, 0.496] at t(0.975, 4) = 2.776. The model's error shrinks what the seeds add, too. At 1.7 times
// 0.025 b is left, still above 0; at 1.6 times nothing is.
TEST(Comparison, TheModelsErrorShrinksTheSeedsPartToo) {
  for (const auto& [times, is_shown] : {std::pair(1.8, true), std::pair(1.7, true), std::pair(1.6, false)}) {
    std::vector<Json> records =
        values_of("sync_time_s.mean",
                  {{"a", {times, 2 * times, 3 * times, 4 * times, 5 * times}}, {"b", {1., 2., 3., 4., 5.}}});
    for (Json& record : records) record["residual"] = 0.25;
    const Comparison comparison =
        compare(records, "sync_time_s.mean").metrics[0].rows.at(0).comparisons.at(0);
    EXPECT_EQ(comparison.outcome == Outcome::kWorse, is_shown) << times << ": " << comparison.remark;
  }
}

// Topologies of two kinds have no key in common: each row says what it has.
TEST(Comparison, PointsWithoutACommonKeySayWhatTheyHave) {
  TemporaryFolder folder;
  std::vector<Json> records;
  for (const auto& [name, topology] : {std::pair("star", Json{{"star", {{"rate", "1Gbps"}}}}),
                                       {"regions", {{"regions", {{"matrix", "aws-2022"}}}}}}) {
    records.push_back(compared_record("a", 1, {{"network.topology", topology}}, {{"final_loss", 1.}}));
    records.back()["case"] = name;
    const Json resolved = {
        {"seed", 1}, {"method", {{"name", "a"}, {"label", "a"}}}, {"network", {{"topology", topology}}}};
    write_text(folder.path + "/cases/" + name + "/case.json", resolved.dump());
  }
  records[1]["final_loss"] = 2.;
  const auto rows =
      compare_runs({run_of(records, folder.path)}, {"method", {"final_loss"}, {}}).metrics[0].rows;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at, "network.topology.star.rate = 1Gbps");
  EXPECT_EQ(rows[1].at, "network.topology.regions.matrix = aws-2022");
}

// Losses on two texts do not compare; the texts of a synthetic source, one a seed, do.
TEST(Comparison, LossesAreComparedWithinOneText) {
  for (const bool synthetic : {false, true}) {
    TemporaryFolder folder;
    std::vector<Json> records;
    for (int seed = 1; seed <= 2; ++seed) {
      const std::string key = "a-" + std::to_string(seed);
      records.push_back(compared_record("a", seed, {{"final_loss", 2.}, {"training", key}}));
      Json said = {{"corpus_hash", std::to_string(seed)}};
      if (synthetic) said["source_entropy"] = 1.4;
      write_text(folder.path + "/train/" + key + "/training.json", said.dump());
    }
    const ComparisonTable table =
        compare_runs({run_of(records, folder.path)}, {"method", {"final_loss"}, {}});
    EXPECT_EQ(table.metrics[0].rows.size(), synthetic ? 1u : 2u);
  }
}

// The times in which a and b reach their target, null where they do not; all of their seeds.
ComparisonTable compared_targets(const std::vector<Json>& a, const std::vector<Json>& b) {
  const Json more = {{"fidelity", "packet"}, {"target_loss", 3}};
  return compare(values_of("time_to_target_s", {{"a", a}, {"b", b}}, more), "time_to_target_s");
}

// One of five never reaches the target. The mean of the other four would hide that: none is given.
TEST(Comparison, ARunThatNeverReachesTheTargetIsNotAveraged) {
  const ComparisonTable table = compared_targets({10, 11, 12, nullptr, 10}, {20, 21, 22, 20, 21});
  const ComparisonRow& row = table.metrics[0].rows[0];
  EXPECT_TRUE(row.groups[0].missed_target());
  EXPECT_EQ(mean_text(table.metrics[0].metric, row.groups[0]), "reached by 4 of 5");
  EXPECT_EQ(interval_text(table.metrics[0].metric, row.groups[0]), "");
  EXPECT_EQ(mean_text(table.metrics[0].metric, row.groups[1]), "20.8 s");
  EXPECT_EQ(row.comparisons[0].test, Comparison::Test::kFisher);
  EXPECT_EQ(row.comparisons[0].outcome, Outcome::kNone);  // p = 1
}

// All against none: p = 2/252. Where none reaches the target nothing is tested.
TEST(Comparison, AllAgainstNoneIsADifference) {
  const std::vector<Json> never(5);
  const ComparisonTable table = compared_targets({10, 11, 12, 10, 11}, never);
  const ComparisonRow& row = table.metrics[0].rows[0];
  EXPECT_EQ(mean_text(table.metrics[0].metric, row.groups[1]), "never reached");
  EXPECT_NEAR(row.comparisons[0].corrected.p, 2. / 252, 1e-12);
  EXPECT_EQ(row.comparisons[0].outcome, Outcome::kBetter);
  const ComparisonTable of_none = compared_targets(never, never);
  EXPECT_EQ(of_none.tests, 0u);
  EXPECT_EQ(first_of(of_none).remark, "neither reaches it");
  EXPECT_EQ(first_of(of_none).outcome, Outcome::kNone);
}

// flow with queue host is known to 7 %: 10 s (9.3 to 10.7) and 11 s (10.2 to 11.8) may be the other way
// round.
TEST(Comparison, ADifferenceWithinTheNetworkModelsErrorIsNotShown) {
  const auto judged = [](double a, double b, const char* fidelity) {
    const std::string metric = "sync_time_s.mean";
    const Json more = {{"fidelity", fidelity}};
    return first_of(compare(values_of(metric, {{"a", {a, a, a}}, {"b", {b, b, b}}}, more), metric));
  };
  const Comparison small = judged(10, 11, "flow");
  EXPECT_EQ(small.outcome, Outcome::kNone);
  EXPECT_EQ(small.remark, "within the network model's error of 7 %");
  EXPECT_EQ(judged(10, 12, "flow").outcome, Outcome::kBetter);
  EXPECT_EQ(judged(10, 11, "packet").outcome, Outcome::kBetter);
}

// What Holm rejects has an interval without 0.
TEST(Comparison, TheIntervalAgreesWithTheVerdict) {
  const std::vector<Json> records = losses_of({{"a", {3.00, 3.01, 3.02, 3.01, 3.00}},
                                               {"b", {3.10, 3.12, 3.11, 3.12, 3.11}},
                                               {"c", {3.09, 3.13, 3.12, 3.10, 3.12}}});
  const auto comparisons = compare(records, "final_loss").metrics[0].rows[0].comparisons;
  ASSERT_EQ(comparisons.size(), 3u);
  for (const Comparison& comparison : comparisons) {
    const bool holds_zero = comparison.interval.low <= 0 && comparison.interval.high >= 0;
    EXPECT_EQ(comparison.outcome == Outcome::kNone, holds_zero) << comparison.a << comparison.b;
    EXPECT_GE(comparison.corrected.p, comparison.difference.p);
  }
  EXPECT_EQ(comparisons[2].outcome, Outcome::kNone);
}

TEST(Comparison, SaysWhereSeedsAreTooFewOrLeftOut) {
  const auto compared = [](const std::vector<double>& a, const std::vector<double>& b) {
    return compare(losses_of({{"a", a}, {"b", b}}), "final_loss");
  };
  EXPECT_SAYS(join(compared({1}, {2}).notes), "Of one seed");
  EXPECT_EQ(join(compared({1}, {2}).notes).find("--margin"), std::string::npos);
  ComparisonRequest request = {"method", {"final_loss"}, {}};
  request.margin = 0.1;
  EXPECT_SAYS(join(compare_runs({run_of(losses_of({{"a", {1}}, {"b", {2}}}))}, request).notes),
              "Nor whether the difference is smaller than --margin.");
  EXPECT_SAYS(join(compared({1, 2, 3}, {1.5, 2, 2.5}).notes), "3 seeds are too few");
  EXPECT_TRUE(compared({1, 2, 3, 4, 5, 6, 7, 8}, {2, 1, 4, 3, 6, 5, 8, 7}).notes.empty());
  std::vector<Json> records = losses_of({{"a", {1, 2, 3}}, {"b", {1, 2, 3}}});
  records[5]["status"] = "failed";
  const ComparisonTable lacking = compare(records, "final_loss");
  EXPECT_SAYS(join(lacking.notes), "1 case failed or did not finish and is left out: nowhere/run/b{}3");
  EXPECT_EQ(lacking.metrics[0].rows[0].groups[1].values.size(), 2u);
}

// Nothing is asked for: the loss, then the times, of those that the records have. best_loss is left out; the
// target is taken although no seed reaches it.
TEST(Comparison, TakesLossesAndTimesByDefault) {
  const Json mean = {{"mean", 1}, {"p95", 2}};
  const Json numbers = {{"idle_fraction", mean},      {"wait_s", mean},  {"sync_time_s", mean},
                        {"target_loss", 1},           {"final_loss", 2}, {"best_loss", 2},
                        {"time_to_target_s", nullptr}};
  std::vector<std::string> taken;
  for (const Metric& metric : chosen_metrics({}, {compared_record("a", 1, numbers)}))
    taken.push_back(metric.path);
  EXPECT_EQ(taken, std::vector<std::string>({"final_loss", "time_to_target_s", "sync_time_s.mean",
                                             "wait_s.mean", "idle_fraction.mean"}));
}

TEST(Comparison, WrongWordsAreNamed) {
  const std::vector<Json> records = losses_of({{"noloco", {1, 2}}, {"diloco", {1, 2}}}, kConnections1);
  EXPECT_SAYS(problem_of(records, {"method", {"final_los"}, {}}), "did you mean \"final_loss\"?");
  EXPECT_SAYS(problem_of(records, {"network.tcp.conections", {}, {}}),
              "did you mean \"network.tcp.connections\"?");
  EXPECT_SAYS(problem_of(records, {"seed", {}, {}}), "--by");
  EXPECT_SAYS(problem_of(records, {"method", {}, {"network.tcp.connections=3"}}),
              "of network.tcp.connections: 1");
  EXPECT_SAYS(problem_of(records, {"method", {}, {"replicas"}}), "key=value");
  EXPECT_SAYS(problem_of(records, {"method", {}, {}, {"noloco:dilocco"}}), "did you mean \"diloco\"?");
  for (const std::string pair : {"noloco:noloco", "noloco:", ":noloco", "noloco"})
    EXPECT_EQ(problem_of(records, {"method", {}, {}, {pair}}),
              "--pair: found \"" + pair + "\"; allowed: two different names with a colon between, as a:b");
}

// A method with an optimizer section of its own stands in the row of the others; a learning rate that the
// scenario sweeps makes rows.
TEST(Comparison, AMethodsOwnOptimizerMakesNoRowOfItsOwn) {
  const TemporaryFolder folder;
  RunDirectory run = run_of({}, folder.path);
  run.written = {{"train", {{"optimizer", {{"lr", 0.003}}}}}};
  const auto add = [&](const std::string& label, double lr, const Json& more, const Json& swept) {
    Json record = compared_record(label, 1, swept, {{"final_loss", 2.}});
    record["case"] = label + std::to_string(run.records.size());
    Json resolved = {{"method", {{"name", label}}}, {"swept", swept}};
    resolved["train"]["optimizer"] = {{"lr", lr}};
    resolved["train"]["optimizer"].update(more);
    write_text(run.case_folder(record) + "/case.json", resolved.dump());
    run.records.push_back(record);
  };
  add("ddp", 0.003, Json::object(), Json::object());
  add("muloco", 0.01, {{"name", "muon"}}, Json::object());
  const auto rows = compare_runs({run}, {"method", {"final_loss"}, {}}).metrics.at(0).rows;
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].groups.size(), 2u);
  add("ddp", 0.1, Json::object(), {{"train.optimizer.lr", 0.1}});
  EXPECT_EQ(compare_runs({run}, {"method", {"final_loss"}, {}}).metrics.at(0).rows.size(), 2u);
}

// So does one with a section `pipeline` of its own; one that is swept makes variants of that method.
TEST(Comparison, AMethodsOwnPipelineMakesNoRowOfItsOwn) {
  const TemporaryFolder folder;
  RunDirectory run = run_of({}, folder.path);
  run.written = {{"methods", {"diloco", {{"name", "noloco"}, {"pipeline", {{"routing", "random"}}}}}},
                 {"pipeline", {{"stages", 4}, {"microbatches", 8}}}};
  const auto add = [&](const std::string& label, const std::string& routing, int microbatches,
                       const Json& swept) {
    Json record = compared_record(label, 1, swept, {{"final_loss", 2.}});
    record["case"] = label + std::to_string(run.records.size());
    Json resolved = {{"method", {{"name", label}}},
                     {"pipeline", {{"stages", 4}, {"microbatches", microbatches}, {"routing", routing}}},
                     {"swept", swept}};
    resolved = with_effective_pipeline(resolved);
    write_text(run.case_folder(record) + "/case.json", resolved.dump());
    run.records.push_back(record);
  };
  const auto rows = [&] { return compare_runs({run}, {"method", {"final_loss"}, {}}).metrics.at(0).rows; };
  add("diloco", "straight", 8, Json::object());
  add("noloco", "random", 8, Json::object());
  ASSERT_EQ(rows().size(), 1u);
  EXPECT_EQ(rows()[0].groups.size(), 2u);
  add("noloco", "straight", 8, {{"methods.noloco.pipeline.routing", "straight"}});
  ASSERT_EQ(rows().size(), 1u);
  ASSERT_EQ(rows()[0].groups.size(), 3u);
  EXPECT_EQ(rows()[0].groups[2].name, "noloco (pipeline.routing = straight)");
  add("diloco", "straight", 16, {{"pipeline.microbatches", 16}});
  EXPECT_EQ(rows().size(), 2u);
}

TEST(Comparison, AConditionOnAKeyThatNoCaseHasNamesTheKeys) {
  const std::vector<Json> records = losses_of({{"a", {1, 2}}, {"b", {1, 2}}});
  EXPECT_EQ(
      said_by([&] { compare(records, "final_loss", "method", {"replica=3"}); }),
      "--where: no case has the key \"replica\"; allowed: label, method, replicas, fidelity, queue; did you "
      "mean \"replicas\"?");
  EXPECT_EQ(said_by([&] { compare(records, "final_loss", "method", {"replicas=3"}); }),
            "--where: no case has replicas = 3; allowed: of replicas: 8");
}

// Losses that can be worked out: a is 2, 3, 4, b is 3, 4, 5 of the same seeds, so the difference is -1
// without scatter. Means 3 and 4, t(0.975, 2) = 4.3027 times 1/√3.
TEST(ComparisonRender, BothFormsHoldTheSame) {
  const ComparisonTable table = compare(losses_of({{"a", {2, 3, 4}}, {"b|c", {3, 4, 5}}}), "final_loss");
  const std::string text = comparison_markdown(table);
  EXPECT_SAYS(text, "| method | seeds | mean | 95 % interval |\n|---|---:|---:|---|\n");
  EXPECT_SAYS(text, "| b\\|c | 3 | 4.0000 | [1.5159, 6.4841] |\n");
  EXPECT_SAYS(text,
              "| a | b\\|c | **better** | difference -1.0000 [-1.0000, -1.0000], 3 pairs, p &lt; 0.0001 |");
  EXPECT_SAYS(text, "lower is better");
  const Json json = comparison_json(table);
  EXPECT_EQ(json["tests"], 1);
  const Json& row = json["metrics"][0]["rows"][0];
  EXPECT_EQ(row["groups"][0]["values"], Json({2., 3., 4.}));
  EXPECT_EQ(row["comparisons"][0]["verdict"], "better");
  EXPECT_EQ(row["comparisons"][0]["confidence"], 0.95);
}

constexpr int kDraws = 1000, kSeeds = 5;

// What longhaul compare promises of its verdicts, by simulation with fixed seeds: normal losses of known mean
// and spread go through the whole comparison, and its verdicts are counted.
//
// A method's losses: what all methods share of a seed, its own scatter of one standard deviation, an effect.
std::vector<double> losses(RandomStream& stream, std::vector<double> shared, double effect) {
  for (double& value : shared) value = 3 + value + effect + stream.normal();
  return shared;
}

// In how many of kDraws, each with the records that `add` draws, a verdict is not "no difference shown".
template <typename Add>
int claimed_of(std::uint64_t seed, const Add& add) {
  RandomStream stream(seed, static_cast<Purpose>(40), 1);
  int claimed = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<Json> records;
    add(stream, records);
    const ComparisonTable table = compare(records, "final_loss");
    bool claims = false;
    for (const ComparisonRow& row : table.metrics[0].rows)
      for (const Comparison& comparison : row.comparisons) claims |= comparison.outcome != Outcome::kNone;
    claimed += claims;
  }
  return claimed;
}

// Two methods that share what a seed does to both.
auto two_methods(double effect) {
  return [=](RandomStream& stream, std::vector<Json>& records) {
    std::vector<double> shared(kSeeds);
    for (double& value : shared) value = 2 * stream.normal();
    add_losses(records, "diloco", losses(stream, shared, 0));
    add_losses(records, "noloco", losses(stream, shared, effect));
  };
}

// 5 % of the draws are expected, 50 ± 7: the test is as exact as Student's t.
TEST(ErrorRates, ANullDifferenceIsClaimedInAtMostFivePercent) {
  const int claimed = claimed_of(1, two_methods(0));
  EXPECT_LE(claimed, kDraws / 20);
  EXPECT_GE(claimed, kDraws / 40);  // a test that never speaks would pass too
}

// Four methods at three points: eighteen comparisons, and still at most 5 % of the matrices hold a false one.
TEST(ErrorRates, HolmHoldsTheFamilyOfAMatrix) {
  const int claimed = claimed_of(2, [](RandomStream& stream, std::vector<Json>& records) {
    for (const int connections : {1, 4, 16})
      for (const char* label : {"ddp", "diloco", "noloco", "independent"})
        add_losses(records, label, losses(stream, std::vector<double>(kSeeds), 0),
                   {{"network.tcp.connections", connections}});
  });
  EXPECT_LE(claimed, kDraws / 20);
  EXPECT_GE(claimed, kDraws / 200);
}

// Three of either method's own standard deviations, so 3/√2 of a difference: what seeds share is paired away.
TEST(ErrorRates, AnEffectOfThreeStandardDeviationsIsFound) {
  EXPECT_GE(claimed_of(3, two_methods(3)), kDraws * 8 / 10);
}

}  // namespace longhaul::comparison_test
