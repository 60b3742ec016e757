// longhaul fit and verify, and what a run makes of a fitted scenario, as a user sees them.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/integration/command.h"

namespace longhaul::fit_command_test {

// A ring of four in the analytic network: 2 · 3 messages of a quarter of the bytes.
double ring_s(double bytes, double rate, double one_way_s) {
  return 6 * (one_way_s + 8 * bytes / 4 * (1448 + 52 + 38) / 1448 / rate);
}

Json scenario() {
  return {{"name", "ring"},
          {"replicas", 4},
          {"methods", {{{"name", "diloco"}, {"inner_steps", 1}}}},
          {"workload",
           {{"parameters", 3620000},
            {"wire", "fp32"},
            {"steps", 2},
            {"tokens", 1},
            {"step_time", {{"constant", "1s"}}}}},
          {"network",
           {{"fidelity", "analytic"}, {"topology", {{"star", {{"rate", "300Mbps"}, {"rtt", "10ms"}}}}}}},
          {"fit",
           {{"unknown",
             {{"network.topology.star.rate", {{"from", "1Mbps"}, {"to", "10Gbps"}}},
              {"network.topology.star.rtt", {{"from", "1ms"}, {"to", "1s"}}}}}}}};
}

Json observed(double apart, double rate = 5e7, double one_way_s = 0.02) {
  Json exchanges = Json::array();
  for (const double bytes : {1448., 1448e3, 1448e4})
    for (const double factor : {std::exp(-apart), std::exp(apart)})
      exchanges.push_back({{"operation", "all-reduce"},
                           {"bytes", static_cast<std::int64_t>(bytes)},
                           {"members", 4},
                           {"seconds", factor * ring_s(bytes, rate, one_way_s)}});
  return {{"observed", 1}, {"exchanges", exchanges}};
}

Json read_json(const std::string& file) {
  return Json::parse(read_text(file));
}

TEST(FitCommand, WritesWhatItFoundAndARunCarriesIt) {
  const std::string out = fresh_folder("fit") + "/out";
  const CommandResult fitted =
      longhaul({"fit", written(scenario()), written(observed(0.02), "observed.json"), "-o", out});
  ASSERT_EQ(fitted.status, 0) << fitted.err;
  EXPECT_NE(fitted.out.find("network.topology.star.rate"), std::string::npos);
  const Json data = read_json(out + "/fit.json"), found = read_json(out + "/scenario.json");
  EXPECT_NEAR(data["values"][0]["value"].get<double>() / 5e7, 1, 2e-3);
  EXPECT_NEAR(data["values"][1]["value"].get<double>() / 0.04, 1, 2e-3);
  EXPECT_EQ(data["variance_from"], "repeats");
  EXPECT_NE(read_text(out + "/fit.html").find("Longhaul fit"), std::string::npos);
  EXPECT_EQ(longhaul({"check", out + "/scenario.json"}).status, 0);

  // The run sends 14.48 MB: nearly all of it is bytes, so that its time is off as the rate is.
  const Json record = summary_of(run_of(out + "/scenario.json"))["cases"][0];
  const double half = (data["values"][0]["high"].get<double>() - data["values"][0]["low"].get<double>()) / 2 /
                      data["values"][0]["value"].get<double>();
  EXPECT_NEAR(record["fit_error"].get<double>() / half, 1, 0.1);
  EXPECT_NEAR(record["sync_time_s"]["mean"].get<double>() / ring_s(1448e4, 5e7, 0.02), 1, 5e-3);

  // What is set since is not the fit's any more; the round trip still is.
  const Json set =
      summary_of(run_of(out + "/scenario.json", {"--set", "network.topology.star.rate=1Gbps"}))["cases"][0];
  EXPECT_LT(set["fit_error"].get<double>(), 0.5 * record["fit_error"].get<double>());

  // A scenario that was not fitted has none.
  EXPECT_FALSE(summary_of(run_of(written(scenario())))["cases"][0].contains("fit_error"));
}

TEST(FitCommand, VerifyHoldsTheNextMeasurementAgainstIt) {
  const std::string out = fresh_folder("fit") + "/out";
  ASSERT_EQ(
      longhaul({"fit", written(scenario()), written(observed(0.02), "observed.json"), "-o", out}).status, 0);
  const std::string page = fresh_folder("verify") + "/page.html";
  const CommandResult same =
      longhaul({"verify", out + "/scenario.json", written(observed(0.01), "next.json"), "-o", page});
  EXPECT_EQ(same.status, 0) << same.err;
  EXPECT_NE(same.out.find("3 of 3 are inside"), std::string::npos) << same.out;
  EXPECT_NE(read_text(page).find("Predicted over observed"), std::string::npos);
  // What it was fitted to is no prediction, whatever its file is called and how it is laid out.
  const CommandResult itself =
      longhaul({"verify", out + "/scenario.json", written(observed(0.02), "another-name.json")});
  EXPECT_EQ(itself.out.find("inside"), std::string::npos) << itself.out;
  EXPECT_NE(itself.out.find("- 3 of 3 things are what the scenario was fitted to"), std::string::npos)
      << itself.out;
  const CommandResult slower =
      longhaul({"verify", out + "/scenario.json", written(observed(0.01, 2.5e7), "next.json")});
  EXPECT_EQ(slower.status, 0);
  EXPECT_NE(slower.out.find("OUTSIDE"), std::string::npos) << slower.out;
}

// A row is the number that a run has: fitted on its own simulated time it finds what that was run with.
TEST(FitCommand, RowsAreNumbersOfARun) {
  Json rows = Json::array();
  for (const int steps : {2, 6}) {
    Json of = scenario();
    of.erase("fit");
    of["workload"]["steps"] = steps;
    of["methods"][0]["inner_steps"] = 2;
    const Json record = summary_of(run_of(written(of)))["cases"][0];
    rows.push_back({{"metric", "step_time_s"},
                    {"where", {{"workload.steps", steps}, {"methods.diloco.inner_steps", 2}}},
                    {"value", record["step_time_s"]}});
  }
  Json asked = scenario();
  asked["fit"]["unknown"] = {{"network.topology.star.rate", {{"from", "1Mbps"}, {"to", "10Gbps"}}}};
  const std::string out = fresh_folder("fit") + "/out";
  const CommandResult fitted =
      longhaul({"fit", written(asked), written({{"rows", rows}}, "rows.json"), "-o", out});
  ASSERT_EQ(fitted.status, 0) << fitted.err;
  EXPECT_NEAR(read_json(out + "/fit.json")["values"][0]["value"].get<double>() / 3e8, 1, 1e-3);
}

TEST(FitCommand, SaysWhatIsWrong) {
  const std::string good = written(scenario()), times = written(observed(0.01), "observed.json");
  Json wrong = scenario();
  wrong["fit"]["unknown"] = {{"network.topology.star.rat", {{"from", "1Mbps"}, {"to", "2Mbps"}}}};
  expect_refused(longhaul({"check", written(wrong)}), {"fit.unknown", "network.topology.star.rat"});
  expect_refused(longhaul({"fit", good}), {"OBSERVED", "validation"});
  expect_refused(longhaul({"fit", good, good}), {"python -m longhaul.observed"});
  expect_refused(longhaul({"fit", good, times, "--unknown", "network.library"}),
                 {"--unknown", "PATH=FROM..TO"});
  const std::string full = fresh_folder("full");
  write_text(full + "/file", "");
  expect_refused(longhaul({"fit", good, times, "-o", full}), {"--output", "not empty"});
  Json of_other = {{"rows", {{{"metric", "step_time_s"}, {"of", "noloco"}, {"value", 1}}}}};
  expect_refused(longhaul({"fit", good, written(of_other, "rows.json")}), {"rows.json", "noloco", "diloco"});
  Json no_metric = {{"rows", {{{"metric", "step_tim_s"}, {"value", 1}}}}};
  expect_refused(longhaul({"fit", good, written(no_metric, "rows.json")}), {"rows.json", "step_tim_s"});
  expect_refused(longhaul({"fit", good, times, "-o", "/proc/none/here"}), {"--output", "/proc"});
  expect_refused(longhaul({"fit", good, times, "--on", "1"}), {"--on: found beside a file of observations"});
  expect_refused(longhaul({"fit", good, times, "--unknown", "fit.deviation=0..1"}),
                 {"fit.unknown", "fit.deviation"});
  Json no_place = {
      {"rows", {{{"metric", "simulated_time_s"}, {"where", {{"network.tcp.windo", "1MB"}}}, {"value", 1}}}}};
  expect_refused(longhaul({"fit", good, written(no_place, "rows.json")}),
                 {"rows.json: rows[0].where", "windo"});
  expect_refused(longhaul({"fit", good, times, "--unknown", "network.tcp.loss=0.1..0.4"}),
                 {"fit.unknown", "every value of a range"});
  Json observed_at = {
      {"rows",
       {{{"metric", "step_time_s"}, {"where", {{"network.topology.star.rate", "1Gbps"}}}, {"value", 1}}}}};
  expect_refused(longhaul({"fit", good, written(observed_at, "rows.json")}),
                 {"network.topology.star.rate", "was observed at"});
}

}  // namespace longhaul::fit_command_test
