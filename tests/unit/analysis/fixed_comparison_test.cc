// Comparisons of replays that draw nothing from the seed: no chance, no p, and the network model's error
// alone decides.
#include <gtest/gtest.h>

#include "analysis/comparison/comparison.h"
#include "analysis/comparison/draws.h"
#include "analysis/comparison/metric.h"
#include "analysis/comparison/render.h"
#include "core/scenario/scenario.h"
#include "core/scenario/scenario_options.h"
#include "methods/common/registry.h"
#include "net/topologies/registry.h"
#include "tests/support/files.h"
#include "tests/support/said.h"
#include "tests/unit/analysis/compared_runs.h"

namespace longhaul::fixed_comparison_test {

using Outcome = Comparison::Outcome;

// A method on a star; `more` on top of the scenario.
Case case_of(const Json& method, const Json& more = Json::object()) {
  const TemporaryFolder folder;
  Json scenario = Json::parse(R"({"name": "s", "seed": 1, "replicas": 4,
    "workload": {"parameters": 1000, "steps": 4, "step_time": {"constant": "1s"}},
    "network": {"topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}}})");
  scenario["methods"] = Json::array({method});
  scenario.merge_patch(more);
  write_text(folder.file("s.json"), scenario.dump());
  return load_scenario(folder.file("s.json"), {}, scenario_options(method_options(), topology_options()))
      .cases.at(0);
}

const Json kDiloco = {{"name", "diloco"}, {"inner_steps", 2}},
           kNoloco = {{"name", "noloco"}, {"inner_steps", 2}};

const Json kOneSlowLink = {{"network", {{"overrides", {{{"replica", "0"}, {"up", "1Mbps"}}}}}}};

TEST(Draws, AreWhatASeedCanMove) {
  const auto drawn = [](const Json& method, const Json& more = Json::object()) {
    return join(draws_of(case_of(method, more)), "; ");
  };
  EXPECT_EQ(drawn(kDiloco), "");
  const Json lognormal = {{"constant", nullptr}, {"lognormal", {{"mean", "1s"}, {"sigma", 0.3}}}};
  EXPECT_EQ(drawn(kDiloco, {{"workload", {{"step_time", lognormal}}}}), "step times");
  const Json jitter = {{"jitter", {{"rate_sigma", 0.1}}}};
  EXPECT_EQ(drawn(kDiloco, {{"network", {{"variation", jitter}}}}), "jitter of links");
  EXPECT_EQ(drawn(kDiloco, {{"network", {{"tcp", {{"loss", 0.001}}}}}}), "losses of packets");
  const auto samples = [](const Json& length) {
    return Json{{"rollouts",
                 {{"groups", 2}, {"batch", 4}, {"generation", {{"length", length}, {"tokens_per_s", 5}}}}}};
  };
  EXPECT_EQ(drawn(kDiloco, samples({{"constant", 10}})), "");
  EXPECT_EQ(drawn(kDiloco, samples({{"lognormal", {{"mean", 10}, {"sigma", 0}}}})), "");
  EXPECT_EQ(drawn(kDiloco, samples({{"lognormal", {{"mean", 10}, {"sigma", 1}}}})), "lengths of samples");
  EXPECT_EQ(drawn(kDiloco, samples({{"pareto", {{"least", 10}, {"shape", 2}}}})), "lengths of samples");
  EXPECT_EQ(drawn(kNoloco, {{"replicas", 2}}), "") << "there is one pair only";
  // 50 steps of a second are longer than 32 time-outs of 0.25 s, two are not.
  const Json rare = {{"name", "noloco"}, {"inner_steps", 50}}, steps = {{"workload", {{"steps", 50}}}};
  const std::string meets = "who meets whom";
  EXPECT_EQ(drawn(rare, steps), "") << "all pairs of a star are alike";
  EXPECT_EQ(drawn(kNoloco), meets) << "a pair that meets again finds its window";
  Json warm = steps;
  warm["network"]["tcp"]["slow_start_after_idle"] = false;
  EXPECT_EQ(drawn(rare, warm), meets);
  EXPECT_EQ(drawn(kNoloco, {{"replicas", 5}}), meets) << "one is left over";
  EXPECT_EQ(drawn(kNoloco, {{"workload", {{"step_time_factors", {{"3", 2}}}}}}), meets);
  EXPECT_EQ(drawn(kNoloco, kOneSlowLink), meets);
  EXPECT_EQ(drawn(kNoloco, {{"network", {{"fidelity", "packet"}}}}), meets);
  // The paper's Fig. 5A without spread, 20 s against 2 s of drawn pairs: assumed times, so that no residual
  // is left.
  Json mesh = {
      {"fidelity", "analytic"}, {"message_time", {{"mean", "1s"}, {"std", "0s"}}}, {"barrier", true}};
  mesh["topology"] = {{"star", nullptr}, {"mesh", Json::object()}};
  EXPECT_EQ(drawn(kNoloco, {{"network", mesh}}), "");
  mesh["message_time"]["std"] = "500ms";
  EXPECT_EQ(drawn(kNoloco, {{"network", mesh}}), "who meets whom; times of messages");
}

// Files of another version, or of somebody else: what no check has passed must not be read on.
TEST(Draws, AreUnknownOfACaseThatIsDamaged) {
  const TemporaryFolder folder;
  const std::string file = folder.file("case.json");
  EXPECT_EQ(draws_of(file), std::vector<std::string>{kUnknownDraws});
  Json json = case_of(kDiloco).resolved;
  write_text(file, json.dump());
  EXPECT_EQ(draws_of(file), std::vector<std::string>());
  json["train"] = Json::object();
  write_text(file, json.dump());
  EXPECT_EQ(draws_of(file), std::vector<std::string>{kUnknownDraws});
}

class FixedComparison : public testing::Test {
 protected:
  // Cases of two methods with these times, seed after seed; all draw nothing but a noloco's pairs.
  ComparisonTable compared(const std::vector<double>& a, const std::vector<double>& b, const Json& as,
                           const std::string& metric = "simulated_time_s", double margin = 0) {
    std::vector<Json> records;
    for (const auto& [label, times] : {std::pair("a", a), std::pair("b", b)})
      for (std::size_t i = 0; i < times.size(); ++i) {
        const std::string name = label + std::to_string(i);
        records.push_back(compared_record(label, static_cast<int>(i) + 1, {{"sync_time_s", {{"mean", 1.}}}}));
        put_at(records.back(), metric, times[i]);
        records.back()["case"] = name;
        Json entry = as;
        entry["seed"] = i + 1;
        entry["method"]["label"] = label;
        write_text(folder_.file("cases/" + name + "/case.json"), entry.dump());
      }
    return compare_runs({run_of(records, folder_.path)}, {"method", {metric}, {}, {}, margin});
  }

  TemporaryFolder folder_;
  const Json ring_ = case_of(kDiloco).resolved, pairs_ = case_of(kNoloco, kOneSlowLink).resolved;
};

// 16.5 h and 58.7 h, each right to 7 %: 15.3 to 17.7 and 54.6 to 62.8 are apart. One seed is enough.
TEST_F(FixedComparison, OneSeedShowsADifferenceBeyondTheModelsError) {
  const ComparisonTable table = compared({16.5 * 3600}, {58.7 * 3600}, ring_);
  EXPECT_EQ(first_of(table).test, Comparison::Test::kFixed);
  EXPECT_EQ(first_of(table).outcome, Outcome::kBetter);
  EXPECT_EQ(table.tests, 0u);
  const std::string text = comparison_markdown(table);
  EXPECT_SAYS(text,
              "| a | b | **better** | difference -42 h 12 min, the same in every seed: only the network "
              "model's error of 7 % counts |");
  EXPECT_SAYS(text, "| a | 1 | 16 h 30 min | in every seed |");
  const Comparison loss = first_of(compared({3}, {4}, ring_, "final_loss"));
  EXPECT_EQ(loss.outcome, Outcome::kNone);
  EXPECT_EQ(loss.remark, "one seed shows nothing: it decides the training");
}

// 10 and 11.4: 0.07 · 21.4 = 1.498 is more than 1.4. At 11.6 it is 1.512, less than 1.6.
TEST_F(FixedComparison, WithinTheModelsErrorNoDifferenceIsShown) {
  const ComparisonTable near = compared({10, 10}, {11.4, 11.4}, ring_);
  EXPECT_EQ(first_of(near).outcome, Outcome::kNone);
  EXPECT_EQ(first_of(near).remark, "within the network model's error of 7 %");
  EXPECT_EQ(first_of(compared({10, 10}, {11.6, 11.6}, ring_)).outcome, Outcome::kBetter);
  EXPECT_EQ(first_of(compared({10}, {10}, ring_)).remark, "equal");
}

// One seed draws the pairs of both: 10 s against 20 s is beyond 7 %, and 10 s against 11 s is not.
TEST_F(FixedComparison, WhereTheReplayDrawsOneSeedShowsATimeForItsDrawAlone) {
  const Comparison shown = first_of(compared({10}, {20}, pairs_));
  EXPECT_EQ(shown.test, Comparison::Test::kOneDraw);
  EXPECT_EQ(shown.outcome, Outcome::kBetter);
  EXPECT_EQ(shown.remark, "shown for this draw alone: one seed decides who meets whom");
  const Comparison near = first_of(compared({10}, {11}, pairs_));
  EXPECT_EQ(near.outcome, Outcome::kNone);
  EXPECT_EQ(near.remark, "within the network model's error of 7 %");
  EXPECT_EQ(first_of(compared({10, 11}, {20, 22}, pairs_)).test, Comparison::Test::kPaired);
}

// Waits of 0 and 0.9 ms beside synchronizations of a second are equal but for rounding; 1.1 ms is not.
TEST_F(FixedComparison, AWaitBelowAThousandthOfASynchronizationIsRounding) {
  EXPECT_EQ(first_of(compared({0}, {0.0009}, ring_, "wait_s.mean")).remark, "equal but for rounding");
  EXPECT_EQ(first_of(compared({0}, {0.0011}, ring_, "wait_s.mean")).outcome, Outcome::kBetter);
}

// Differences -16, -18: mean -17, standard error 1, t(0.975, 1) = 12.71: [-29.7, -4.3]. The error of two
// means 10 and 27 is 2.59: not within it; of 40 and 57 it is 6.79, and the interval's end is.
TEST(Comparison, SaysWhetherTheDifferenceOrOnlyTheEndOfItsIntervalIsWithinTheModelsError) {
  const std::string metric = "sync_time_s.mean";
  const auto judged = [&](double low, double high) {
    const auto records = values_of(metric, {{"a", {low, low}}, {"b", {high - 1, high + 1}}});
    return first_of(compare_runs({run_of(records)}, {"method", {metric}, {}}));
  };
  EXPECT_EQ(judged(10, 27).outcome, Outcome::kBetter);
  for (const double low : {40, 100})
    EXPECT_EQ(judged(low, low + 17).remark,
              "the interval over seeds ends within the network model's error of 7 %: more seeds may decide");
}

TEST(MetricValues, DurationsAreAsPeopleWriteThem) {
  const Metric time = metric_named("simulated_time_s");
  const std::pair<double, const char*> texts[] = {
      {4e-10, "0 s"},          {3.65e-7, "0.365 us"},   {0.18312, "183.1 ms"},
      {20.256, "20.26 s"},     {119.97, "2 min 0.0 s"}, {645.32, "10 min 45.3 s"},
      {7504, "2 h 5 min 4 s"}, {59390, "16 h 30 min"},  {259200, "3.00 d"}};
  for (const auto& [seconds, text] : texts) EXPECT_EQ(value_text(time, seconds), text);
  EXPECT_EQ(difference_text(time, -151920), "-42 h 12 min");
}

// 10 s against 11 s, each right to 7 %: at most 1 + 0.07 · 21 = 2.47 s apart.
TEST_F(FixedComparison, AMarginIsAskedOfATimeThatNoSeedChangesToo) {
  for (const auto& [margin, words] : {std::pair{2.5, ", equal to within"}, {2.4, ", not shown equal"}})
    EXPECT_SAYS(first_of(compared({10}, {11}, ring_, "simulated_time_s", margin)).remark, words);
}

}  // namespace longhaul::fixed_comparison_test
