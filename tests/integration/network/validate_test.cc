// How wrong the network model is, as a user is told. longhaul validate: a made-up measurement whose
// prediction has a closed form, wrong files, and the published figures of the tree. And what was not
// measured, or is known to be wrong, is said wherever its times are: by check, at the end of a run, in a
// comparison and in the report, and claims on it stay undecided, however clear they look.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <regex>

#include "tests/integration/command.h"
#include "tests/support/said.h"

namespace longhaul::validate_test {

// A ring of 4 over links without latency: 2 · 3/4 of 39.8 MB through 100 Mb/s, of which 65483 of 65573 bytes
// are payload, in chunks of 152 whole segments; and in each of the 6 rounds the core sends the last segment
// on after it has arrived. Segments are that large so that acknowledgements and the first windows have no
// part in it.
constexpr double kRate = 100e6, kWire = 65573, kPayload = 65483;
constexpr double kClosedForm_s =
    2. * 3 / 4 * (4 * 152 * kPayload) * 8 / (kRate * kPayload / kWire) + 6 * 8 * kWire / kRate;

Json made_up(double value) {
  Json scenario = Json::parse(R"({
    "description": "Made up.",
    "replicas": 4,
    "methods": [{"name": "diloco", "inner_steps": 1, "all_reduce": "ring"}],
    "workload": {"parameters": 9953416, "wire": "fp32", "steps": 2},
    "network": {"topology": {"star": {"rate": "100Mbps", "rtt": "1us"}}, "tcp": {"segment": 65483}},
    "sweep": {"network.topology.star.rate": ["100Mbps", "200Mbps"]},
    "validation": {"title": "made up", "source": "nowhere", "licence": "none", "date": "2026-01-01",
                   "read": "not at all", "setup": "a star", "assumptions": ["the rate"],
                   "figures": [{"what": "a ring of 4", "metric": "sync_time_s.mean", "of": "diloco",
                                "assumed": {"network.topology.star.rate": "100Mbps"}}]}})");
  scenario["validation"]["figures"][0]["value"] = value;
  return scenario;
}

CommandResult validate(const Json& scenario, const std::vector<std::string>& more = {}) {
  return longhaul({"validate", written(scenario, "made-up.json")}, more);
}

TEST(Validate, AClosedFormIsPredictedExactlyAndItsRunsAreKeptWhereItIsTold) {
  const std::string out = fresh_folder("kept");
  const CommandResult result = validate(made_up(kClosedForm_s), {"--out", out});
  EXPECT_EQ(result.status, 0) << result.err;
  char row[64];
  std::snprintf(row, sizeof row, "%.2f s +%.2f s +1\\.00", kClosedForm_s, kClosedForm_s);
  EXPECT_TRUE(std::regex_search(result.out, std::regex(row))) << result.out;
  // Twice the rate takes half the time.
  EXPECT_SAYS(result.out, "rate = 200Mbps: 2.41 s (0.50)");
  EXPECT_EQ(result.out.find("off by"), std::string::npos) << result.out;
  EXPECT_TRUE(std::filesystem::exists(out + "/made-up/report.html"));
  const Json summary = summary_of(out + "/made-up");
  EXPECT_NEAR(summary["cases"][0]["sync_time_s"]["mean"].get<double>() / kClosedForm_s, 1, 1e-3);
  expect_refused(validate(made_up(kClosedForm_s), {"--out", out}), {"already holds a run"});
}

TEST(Validate, WhatIsFarOffIsNoFailureAndHasItsSentence) {
  const CommandResult result = validate(made_up(2 * kClosedForm_s), {"--format", "markdown"});
  EXPECT_EQ(result.status, 0);
  EXPECT_SAYS(result.out, "- *a ring of 4*: off by -50 %. No reason is known.");
  EXPECT_SAYS(result.out, "| **0.50** |");
}

TEST(Validate, WrongFilesAreRefusedWithPathFoundAndAllowed) {
  // What is merged into the made-up scenario, and what is said.
  const std::pair<const char*, std::vector<std::string>> all[] = {
      {R"({"validation": {"figures": []}})", {"validation.figures"}},
      {R"({"validation": {"source": null}})", {"validation.source"}},
      {R"({"validation": {"licenc": "MIT"}})", {"unknown key \"licenc\"", "did you mean"}},
      {R"({"validation": null})", {"validation", "the section with the published"}},
      {R"({"train": {"steps": 2}})", {"train: found in a validation", "simulates only the network"}}};
  for (const auto& [change, said] : all) {
    SCOPED_TRACE(change);
    Json scenario = made_up(1);
    scenario.merge_patch(Json::parse(change));
    const CommandResult result = validate(scenario);
    EXPECT_SAYS(result.err, "made-up.json");
    expect_refused(result, said);
    EXPECT_EQ(result.out, "");
  }
  EXPECT_EQ(longhaul({"validate", "no-such-figures"}).status, 2);
  EXPECT_NE(longhaul({"validate", "--format", "html"}).status, 0);
}

// Every figure is predicted, and none is far off without a reason.
TEST(Validate, ThePublishedFiguresOfTheTree) {
  std::vector<std::string> arguments = {"validate", "--jobs", "2"};
  for (const auto& entry : std::filesystem::directory_iterator(scenario_file("validation")))
    if (entry.path().extension() == ".json") arguments.push_back(entry.path().string());
  ASSERT_GT(arguments.size(), 10u);
  const CommandResult result = longhaul(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out.find("not run"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("No reason is known"), std::string::npos) << result.out;
}

// Which classes there are: tests/unit/analysis/residual_test.cc.
struct Class {
  std::string name;
  Json tcp;
  std::string said;  // what is outside; "": its error is known
  std::string fidelity = "flow";
};

class Outside : public testing::TestWithParam<Class> {};

// NoLoCo's synchronization takes more than a thousandth of DiLoCo's.
TEST_P(Outside, IsSaidWhereverItsTimesAre) {
  const Class& tested = GetParam();
  Json scenario = Json::parse(R"({
    "replicas": 2, "methods": [{"name": "diloco", "inner_steps": 1}, {"name": "noloco", "inner_steps": 1}],
    "workload": {"parameters": 40000, "wire": "bf16", "steps": 2, "step_time": {"constant": "1s"}},
    "network": {"topology": {"star": {"rate": "100Mbps", "rtt": "50ms"}}},
    "claims": [{"id": "some", "statement": "some time is taken", "ratio": "sync_time_s.mean", "of": "diloco",
                "to": "noloco", "at_least": 0.001}]})");
  scenario["network"].update({{"fidelity", tested.fidelity}, {"tcp", tested.tcp}});
  const std::string file = written(scenario), run = fresh_folder("run");
  const CommandResult checked = longhaul({"check", file}), ran = longhaul({"run", file, "--out", run});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const CommandResult compared = longhaul({"compare", run, "--metric", "sync_time_s.mean"});
  ASSERT_EQ(compared.status, 0) << compared.err;
  const std::string what = "outside of what the network model was measured for";
  for (const std::string& text : {checked.out, ran.out, compared.out, read_text(run + "/report.html")}) {
    EXPECT_EQ(text.find(what) != std::string::npos, !tested.said.empty()) << text.substr(0, 2000);
    EXPECT_SAYS(text, tested.said);
  }
  EXPECT_SAYS(longhaul({"claims", run}).out, tested.said.empty() ? "holds" : "undecided");
}

INSTANTIATE_TEST_SUITE_P(
    Classes, Outside,
    testing::Values(
        Class{"Host", {{"connections", 8}}, ""},
        Class{"LossOnMoreConnections", {{"loss", 1e-3}, {"connections", 9}}, "9 connections (to 8)"},
        Class{"LinuxBehindFifos", {{"queue", "fifo"}, {"connections", 4}}, "", "linux"},
        Class{"LinuxWithLosses", {{"loss", 1e-3}}, "", "linux"},
        Class{"LinuxWithLossesAndBbr",
              {{"loss", 1e-3}, {"congestion_control", "bbr"}},
              "queue host+bbr+loss in fidelity linux",
              "linux"},
        Class{"PacketsOfBbr", {{"congestion_control", "bbr"}}, "queue host+bbr in packets", "packet"}),
    [](const auto& info) { return info.param.name; });

}  // namespace longhaul::validate_test
