// Fits whose truth is a closed form: an all-reduce around a ring in the analytic network takes 2 (n − 1)
// messages of a latency and an n-th of the bytes each.
#include "fitting/fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "checks/unknown.h"
#include "checks/validated_scenario.h"
#include "core/base/units.h"
#include "fitting/fit_files.h"
#include "tests/support/said.h"

namespace longhaul::fit_test {

Json star(int replicas = 4) {
  return {{"name", "star"},
          {"replicas", replicas},
          {"methods", {{{"name", "diloco"}, {"inner_steps", 1}}}},
          {"workload", {{"parameters", 1000}, {"steps", 2}, {"step_time", {{"constant", "1s"}}}}},
          {"network",
           {{"fidelity", "analytic"}, {"topology", {{"star", {{"rate", "100Mbps"}, {"rtt", "30ms"}}}}}}}};
}

FitTools tools() {
  return {[](const Json& scenario) { return validated_as_written(scenario, "star.json").cases; },
          [](const std::vector<std::function<void()>>& tasks, const std::string&) {
            for (const auto& task : tasks) task();
          },
          [](const Case&) {
            return Json{{"sync_time_s", {{"mean", 1.}}}};
          }};
}

// The payload with the headers of TCP, IP and Ethernet.
double ring_s(int members, double bytes, double rate, double one_way_s) {
  return 2 * (members - 1) * (one_way_s + 8 * bytes / members * (1448 + 52 + 38) / 1448 / rate);
}

Json all_reduce(int members, double bytes, double seconds, const Json& more = Json::object()) {
  Json one = {{"operation", "all-reduce"},
              {"bytes", static_cast<std::int64_t>(bytes)},
              {"members", members},
              {"seconds", seconds}};
  one.update(more);
  return one;
}

constexpr double kRate = 4e7, kOneWay_s = 0.05;

// Each size twice, so much apart.
Observations ring_times(double apart, const std::vector<double>& sizes = {1448, 1448e2, 1448e3, 1448e4}) {
  Json exchanges = Json::array();
  for (const double bytes : sizes)
    for (const double factor : {std::exp(-apart), std::exp(apart)})
      exchanges.push_back(all_reduce(4, bytes, factor * ring_s(4, bytes, kRate, kOneWay_s)));
  return observations_of({{"exchanges", exchanges}}, "o.json");
}

const Json kRateAndTrip = {{"network.topology.star.rate", {{"from", "1Mbps"}, {"to", "1Gbps"}}},
                           {"network.topology.star.rtt", {{"from", "1ms"}, {"to", "1s"}}}};

FitResult fitted(const Json& unknown, const Observations& observations, Json scenario = star()) {
  scenario["fit"]["unknown"] = unknown;
  return fit(scenario, unknowns_of(scenario, scenario_declaration()), observations, tools());
}

TEST(Fit, FindsWhatARingTellsOfItsLinks) {
  const FitResult result = fitted(kRateAndTrip, ring_times(0.01));
  EXPECT_NEAR(result.values[0].value / kRate, 1, 1e-3);
  EXPECT_NEAR(result.values[1].value / (2 * kOneWay_s), 1, 1e-3);
  EXPECT_EQ(result.variance.spread, FitSpread::kRepeats);
  EXPECT_EQ(result.variance.freedom, 8 - 2);
  EXPECT_NEAR(result.variance.deviation, std::sqrt(8 * 0.01 * 0.01 / 6), 1e-5);
  for (const FittedValue& one : result.values) {
    EXPECT_TRUE(one.is_bounded_below && one.is_bounded_above);
    EXPECT_LT(one.low, one.value);
    EXPECT_GT(one.high, one.value);
    EXPECT_LT(one.high / one.low, 1.1);
  }
  for (const FitResidual& one : result.residuals) {
    EXPECT_NEAR(one.predicted / one.observed, 1, 1e-3);
    EXPECT_TRUE(one.is_inside());
  }
}

// The mean of nine, a hundredth above, and one alone nine hundredths below: all ten are right in the mean,
// and one of them deviates by the root of 9 · 0.01² + 0.09², with a degree of freedom.
TEST(Fit, AMeanWeighsAsWhatItIsOf) {
  const double right_s = ring_s(4, 1448, kRate, kOneWay_s);
  const Observations observations =
      observations_of({{"exchanges",
                        {all_reduce(4, 1448, right_s * std::exp(0.01), {{"count", 9}}),
                         all_reduce(4, 1448, right_s * std::exp(-0.09))}}},
                      "o.json");
  Json scenario = star();
  scenario["network"]["topology"]["star"]["rate"] = "40Mbps";
  const FitResult result =
      fitted({{"network.topology.star.rtt", {{"from", "1ms"}, {"to", "1s"}}}}, observations, scenario);
  EXPECT_NEAR(result.values[0].value / (2 * kOneWay_s), 1, 1e-4);
  EXPECT_EQ(result.residuals.at(0).count, 10u);
  EXPECT_NEAR(result.variance.deviation, std::sqrt(9 * 0.01 * 0.01 + 0.09 * 0.09), 1e-6);
  EXPECT_EQ(result.variance.freedom, 1);
}

// Small vectors tell the latency alone, large ones the rate alone: the other has no end.
TEST(Fit, SaysWhatTheObservationsDoNotBound) {
  const FitResult small = fitted(kRateAndTrip, ring_times(0.01, {1448, 2896}));
  EXPECT_FALSE(small.values[0].is_bounded_above);
  EXPECT_TRUE(small.values[1].is_bounded_below && small.values[1].is_bounded_above);
  EXPECT_SAYS(join(small.words), "rate: at least");
}

// One size is one number for two unknowns: a line of pairs fits as well.
TEST(Fit, SaysWhichTwoAreNotToldApart) {
  const FitResult result = fitted(kRateAndTrip, ring_times(0.01, {1448e2}));
  EXPECT_SAYS(join(result.words), "rate and rtt are hardly told apart");
}

// One member is 0.2 s late: from its beginning the others' first messages are there, so that a round less is
// left of what it waits for: its own first message has still to go round.
TEST(Fit, MembersBeginAsTheyWereObservedTo) {
  Json exchanges = Json::array();
  for (const double bytes : {1448., 1448e3})
    for (const double factor : {0.999, 1.001})
      exchanges.push_back(all_reduce(4, bytes, factor * ring_s(4, bytes, kRate, kOneWay_s),
                                     {{"waits_s", {0.2, 0.2, 0, 0.2}}}));
  const FitResult result = fitted(kRateAndTrip, observations_of({{"exchanges", exchanges}}, "o.json"));
  EXPECT_NEAR(result.values[0].value / kRate, 1, 2e-3);
  EXPECT_NEAR(result.values[1].value / (2 * kOneWay_s), 1, 2e-3);
}

// A fixed time of an operation is told apart from latency by rings of several sizes of group alone.
TEST(Fit, FindsAFixedTimeOfOperations) {
  constexpr double kOverhead_s = 0.02;
  Json exchanges = Json::array();
  for (const int members : {2, 4, 8})
    for (const double bytes : {1448., 1448e3})
      exchanges.push_back(all_reduce(members, bytes, kOverhead_s + ring_s(members, bytes, kRate, kOneWay_s)));
  Json unknown = kRateAndTrip;
  unknown["network.operation_overhead"] = {{"from", "0s"}, {"to", "200ms"}};
  const FitResult result = fitted(unknown, observations_of({{"exchanges", exchanges}}, "o.json"));
  EXPECT_NEAR(result.values[2].value, kOverhead_s, 1e-4);
  EXPECT_NEAR(result.values[1].value / (2 * kOneWay_s), 1, 1e-3);
  EXPECT_EQ(result.variance.spread, FitSpread::kDifferences);
  EXPECT_EQ(result.variance.freedom, 6 - 3);
}

// Among four a tree takes some latencies and some times the bytes too, so that another rate and latency make
// it a ring. Groups of several sizes tell them apart.
TEST(Fit, TellsChoicesApartWhereTheObservationsDo) {
  Json unknown = kRateAndTrip;
  unknown["methods.diloco.all_reduce"] = {"tree", "ring"};
  const FitResult of_one = fitted(unknown, ring_times(0.001));
  ASSERT_EQ(of_one.choices.size(), 2u);
  EXPECT_TRUE(of_one.choices[1].is_possible);
  EXPECT_SAYS(join(of_one.words), "not told apart: all_reduce");
  Json exchanges = Json::array();
  for (const int members : {4, 8, 16})
    for (const double bytes : {1448e1, 1448e3})
      for (const double factor : {0.999, 1.001})
        exchanges.push_back(all_reduce(members, bytes, factor * ring_s(members, bytes, kRate, kOneWay_s)));
  const FitResult of_three = fitted(unknown, observations_of({{"exchanges", exchanges}}, "o.json"));
  EXPECT_EQ(of_three.choices[0].values["methods.diloco.all_reduce"], "ring");
  EXPECT_FALSE(of_three.choices[1].is_possible);
  EXPECT_NEAR(of_three.values[0].value / kRate, 1, 1e-3);
}

TEST(Fit, OfAChoiceAloneNeedsNoNumbers) {
  const FitResult result = fitted({{"network.topology.star.rate", {"40Mbps", "80Mbps"}}}, [] {
    const Json exchanges = Json::array({all_reduce(4, 1448e4, ring_s(4, 1448e4, kRate, 0.015))});
    return observations_of({{"exchanges", exchanges}}, "o.json");
  }());
  EXPECT_EQ(result.choices[0].values["network.topology.star.rate"], "40Mbps");
  EXPECT_TRUE(result.values.empty());
}

// Times that no rate and latency give: each size counts once, and the deviation is what is left of them.
TEST(Fit, SeesThatTheScenarioDoesNotFit) {
  Json exchanges = Json::array();
  const double bent[] = {1.3, 0.7, 1.3, 0.7};
  int i = 0;
  for (const double bytes : {1448., 1448e2, 1448e3, 1448e4}) {
    for (const double factor : {0.999, 1.001})
      exchanges.push_back(all_reduce(4, bytes, bent[i] * factor * ring_s(4, bytes, kRate, kOneWay_s)));
    ++i;
  }
  const FitResult result = fitted(kRateAndTrip, observations_of({{"exchanges", exchanges}}, "o.json"));
  EXPECT_EQ(result.variance.spread, FitSpread::kDifferences);
  EXPECT_EQ(result.variance.freedom, 4 - 2);
  EXPECT_GT(result.variance.deviation, 0.1);
  EXPECT_SAYS(join(result.words), "each different thing counts once");
}

// What is not fitted is predicted with a range.
TEST(Fit, PredictsWhatIsHeldBack) {
  Observations observations = ring_times(0.01);
  ObservedExchange later = observations.exchanges[0];
  later.bytes = 5 * 1448 * 1000;
  later.members = 8;
  later.is_fitted = false;
  later.times = {{ring_s(8, 5 * 1448e3, kRate, kOneWay_s)}};
  observations.exchanges.push_back(later);
  const FitResult result = fitted(kRateAndTrip, observations);
  const FitResidual& last = result.residuals.back();
  EXPECT_FALSE(last.is_fitted);
  EXPECT_NEAR(last.predicted / last.observed, 1, 1e-3);
  EXPECT_TRUE(last.is_inside());
  EXPECT_LT(last.high / last.low, 1.1);
}

// An outlier among six is left out and said.
TEST(Fit, LeavesOutWhatIsFarFromItsRepeats) {
  Json exchanges = Json::array();
  for (const double factor : {0.98, 0.99, 1., 1.01, 1.02, 9.})
    exchanges.push_back(all_reduce(4, 1448e3, factor * ring_s(4, 1448e3, kRate, kOneWay_s)));
  const FitResult result = fitted({{"network.topology.star.rate", {{"from", "1Mbps"}, {"to", "1Gbps"}}}},
                                  observations_of({{"exchanges", exchanges}}, "o.json"), [] {
                                    Json scenario = star();
                                    scenario["network"]["topology"]["star"]["rtt"] = "100ms";
                                    return scenario;
                                  }());
  EXPECT_NEAR(result.values[0].value / kRate, 1, 0.01);
  EXPECT_SAYS(join(result.words), "1 of 6 times");
}

TEST(Fit, WritesTheScenarioWithWhatItFound) {
  Json scenario = star();
  scenario["fit"]["unknown"] = kRateAndTrip;
  const FitResult result = fitted(kRateAndTrip, ring_times(0.01));
  const Json written = fitted_scenario(scenario, {"star", "star.json", "o.json"}, result, "/", "/");
  const double rate = parse_rate(written["network"]["topology"]["star"]["rate"]);
  EXPECT_NEAR(rate / kRate, 1, 1e-3);
  const Json& found = written["fit"]["found"]["network.topology.star.rate"];
  EXPECT_LT(parse_rate(found["low"]), rate);
  EXPECT_GT(parse_rate(found["high"]), rate);
  EXPECT_EQ(written["fit"]["axes"].size(), 2u);
  EXPECT_SAYS(written["fit"]["source"].get<std::string>(), "8 observations");
  EXPECT_EQ(validated_as_written(written, "star.json").cases.size(), 1u);  // it can be read again
}

// Rows are replayed with the step time that the steps have given, 200 ms, and not with the scenario's guess.
TEST(Fit, TakesStepsBeforeRows) {
  Json scenario = star();
  scenario["workload"]["step_time"]["constant"] = "77s";
  Json unknown = {{"network.topology.star.rate", {{"from", "1Mbps"}, {"to", "1Gbps"}}},
                  {"workload.step_time.constant", {{"from", "1ms"}, {"to", "100s"}}}};
  scenario["fit"]["unknown"] = unknown;
  Json steps = Json::array();
  for (const double seconds : {0.19, 0.2, 0.21}) steps.push_back({{"seconds", seconds}});
  FitTools asks = tools();
  std::vector<double> step_times;
  asks.record = [&](const Case& config) {
    step_times.push_back(config.workload.step_time.seconds);
    return Json{{"simulated_time_s", 1e7 / 1e6}};
  };
  const Json rows = Json::array({{{"metric", "simulated_time_s"}, {"value", 10}}});
  fit(scenario, unknowns_of(scenario, scenario_declaration()),
      observations_of({{"steps", steps}, {"rows", rows}}, "o.json"), asks);
  ASSERT_FALSE(step_times.empty());
  for (const double seconds : step_times) EXPECT_NEAR(seconds, 0.2, 1e-9);
}

// One size, six times, ±3 %: any rate up to the one that needs no latency fits as well, a valley that is no
// straight line. What is predicted of that size stays what was seen: all ends of axes predict it within the
// interval of a mean of six, t(0.95, 5) = 2.015 deviations of 3.3 % over √6, but for a tenth of its square;
// two such axes and one more mean of six make 2.015 · 0.033 · √(3.2 / 6) each way.
TEST(Fit, EndsOfAxesStayInACurvedValley) {
  const FitResult result = fitted(kRateAndTrip, ring_times(0.03, {1448e3, 1448e3, 1448e3}));
  ASSERT_EQ(result.residuals.size(), 1u);
  EXPECT_EQ(result.residuals[0].count, 6u);
  const double half = 2.015 * 0.03 * std::sqrt(6 / 5.) * std::sqrt(3.2 / 6);
  EXPECT_GT(result.residuals[0].low, result.residuals[0].predicted * std::exp(-half));
  EXPECT_LT(result.residuals[0].high, result.residuals[0].predicted * std::exp(half));
}

// Only times are printed as times.
TEST(Fit, KnowsTheUnitOfANumber) {
  for (const auto& [metric, is_time] : std::vector<std::pair<std::string, bool>>{
           {"simulated_time_s", true}, {"tokens_per_s", false}, {"bytes_sent_per_replica", false}}) {
    FitTools asks = tools();
    asks.record = [metric = metric](const Case&) { return Json{{metric, 3.}}; };
    const Json rows = Json::array({{{"metric", metric}, {"value", 3}}});
    Json scenario = star();
    scenario["fit"]["unknown"] = {{"network.library", {"plain", "gloo"}}};
    const FitResult result = fit(scenario, unknowns_of(scenario, scenario_declaration()),
                                 observations_of({{"rows", rows}}, "o.json"), asks);
    EXPECT_EQ(result.residuals[0].is_time, is_time) << metric;
  }
}

// Faster than the range allows: the value stands at its end, and that is said.
TEST(Fit, SaysThatTheTruthMayLieOutside) {
  const FitResult result = fitted({{"network.topology.star.rate", {{"from", "1Mbps"}, {"to", "10Mbps"}}}},
                                  ring_times(0.01, {1448e3}));
  EXPECT_SAYS(join(result.words), "rate fits best at the end of its range, 10 Mb/s: it may lie outside");
}

TEST(Fit, SaysWhyItCannot) {
  const auto refused = [](const Json& unknown, const Json& exchanges, const std::string& words,
                          Json scenario = star()) {
    EXPECT_SAYS(said_by([&] {
                  fitted(unknown, observations_of({{"exchanges", exchanges}}, "o.json"), scenario);
                }),
                words);
  };
  refused(kRateAndTrip, Json::array({all_reduce(4, 1e6, 1, {{"operation", "broadcast"}})}),
          "nothing that can be fitted");
  Json packets = star();
  packets["network"]["fidelity"] = "packet";
  refused(kRateAndTrip, Json::array({all_reduce(4, 1e6, 1)}), "found \"packet\"", packets);
  Json stages = star();
  stages["pipeline"] = {{"stages", 2}, {"bytes_per_token", 10}};
  stages["workload"]["tokens"] = 8;
  refused(kRateAndTrip, Json::array({all_reduce(4, 1e6, 1)}), "pipeline.stages", stages);
}

}  // namespace longhaul::fit_test
