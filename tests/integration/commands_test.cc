// What commands say that run nothing: lists, the committed schema, checks and help; and wrong input: exit
// status 2, and one message that names the file, the JSON path, what was found and what is allowed.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/integration/command.h"
#include "tests/support/said.h"

namespace longhaul::commands_test {

TEST(Schema, TheCommittedFileIsWhatTheDeclarationsMake) {
  const CommandResult result = longhaul({"list", "schema"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(read_text(scenario_file("scenario.schema.json")), result.out) << "run `make schema`";
}

TEST(List, EachTopicSaysSomething) {
  for (const char* topic :
       {"methods", "collectives", "networks", "models", "options", "combinations", "scenarios"})
    EXPECT_GT(longhaul({"list", topic}).out.size(), 100u) << topic;
}

TEST(Check, EveryScenarioInTheTreeIsValid) {
  for (const char* name : {"quickstart.json", "small.json", "three-seeds.json", "varying-network.json"}) {
    const CommandResult result = longhaul({"check", scenario_file(name)});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_SAYS(result.out, "is a valid scenario");
  }
}

TEST(Check, SaysHowWrongTheNetworkModelIsByClass) {
  const auto said = [](const std::string& tcp) {
    return longhaul({"check", scenario_file("small.json"), "--set", "network.tcp=" + tcp}).out;
  };
  const std::string words = "the network model's error where it was measured: ";
  EXPECT_SAYS(said("{}"), words + "7 % with host\n");
  EXPECT_SAYS(said(R"({"loss": 0.001})"), words + "20 % with host+loss\n");
}

// Samples of 2.5 s; twelve of them with eight slots. Lengths that are cut have no mean that it knows.
TEST(Check, SaysWhatRolloutsAre) {
  Json scenario = Json::parse(R"({
    "replicas": 1, "methods": [{"name": "single"}],
    "workload": {"parameters": 1000000000, "steps": 2, "step_time": {"constant": "1s"}},
    "rollouts": {"groups": 2, "sites": ["virginia", "tokyo"], "batch": 12, "concurrent": 4,
                 "generation": {"length": {"constant": 10}, "tokens_per_s": 5, "start": "500ms"},
                 "weights": {"distribution": "chain"}},
    "network": {"topology": {"regions": {"matrix": "aws-2022", "replicas": {"virginia": 1}, "rate": "1Gbps"}}}})");
  const auto said = [&] { return longhaul({"check", written(scenario)}).out; };
  const std::string groups = "rollouts: 2 groups (virginia 1; tokyo 1) generate 4 samples each at a time";
  EXPECT_SAYS(said(), groups + ", a batch in 3.75 s or more; a version is 2 GB to each by chain\n");
  scenario["rollouts"]["generation"]["most_tokens"] = 8;
  EXPECT_SAYS(said(), groups + "; a version is 2 GB to each by chain\n");
  scenario["rollouts"].merge_patch({{"groups", 1}, {"sites", {"tokyo"}}, {"concurrent", 1}});
  EXPECT_SAYS(said(), "rollouts: 1 group (tokyo 1) generates 1 sample each at a time; a version");
}

// 40 steps of a second, of the worker that computes longest.
TEST(Check, SaysWhatNoNetworkCanMakeShorter) {
  const auto said = [](const std::string& method, const char* more) {
    Json scenario = Json::parse(R"({
      "replicas": 4, "workload": {"parameters": 1000, "steps": 40, "step_time": {"constant": "1s"}},
      "network": {"topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}}})");
    scenario["methods"] = Json::array({{{"name", method}}});
    scenario.merge_patch(Json::parse(more));
    return longhaul({"check", written(scenario)}).out;
  };
  EXPECT_SAYS(said("ddp", R"({"workload": {"step_time_factors": {"all": 0.5}}})"),
              "a step computes for 500 ms; 40 steps take at least 20 s\n");
  EXPECT_SAYS(said("ddp", R"({"workload": {"step_time_factors": {"1": 1.5, "2": 3, "3": 7}}})"),
              "40 steps take at least 4 min 40 s\n");
  // Of ten steps they take 10, 6 of 1.5 s, 3 of 3 s and 1 of 7 s.
  EXPECT_SAYS(
      said("", R"({"methods": [{"name": "delayed-nesterov", "inner_steps": 10, "dynamic_steps": true}],
                           "workload": {"step_time_factors": {"1": 1.5, "2": 3, "3": 7}}})"),
      "40 steps take at least 40 s\n");
  EXPECT_SAYS(said("single", R"({"workload": {"accelerators": 2}})"),
              "40 steps take at least 2 min 40 s, 0.0889 accelerator-hours\n");
  EXPECT_SAYS(said("ddp", R"({"pipeline": {"stages": 4, "microbatches": 4, "bytes_per_token": 4},
                              "workload": {"tokens": 16}})"),
              "40 steps take at least 10 s, ");
  // A mean of drawn steps is no bound: exp(mu + sigma² / 2).
  EXPECT_SAYS(said("ddp", R"({"workload": {"tokens": 100,
                              "step_time": {"lognormal": {"mean": "2s", "sigma": 0.3}, "constant": null}}})"),
              "a step computes for 2 s on average: some 200 tokens/s; 40 steps take about 80 s without "
              "their exchanges");
  // Nor is a slow replica one that leaves for good.
  EXPECT_SAYS(said("ddp", R"({"workload": {"step_time_factors": {"1": 3}},
                              "faults": [{"kind": "crash", "replicas": "1", "at": "5s"}]})"),
              "40 steps take about 2 min 0 s without their exchanges");
  // 0.07 of links that stay as they are, and 0.23 of theirs.
  EXPECT_SAYS(said("ddp", R"({"network": {"variation": {"jitter": {"rate_sigma": 0.5, "every": "1s"}}}})"),
              "the network model's error where it was measured: 24 % with host, jitter of rates");
}

// Which scenarios are refused, and how: tests/unit/cli/bad_scenarios_test.cc.
TEST(BadInput, ExitsWith2AndOneMessageAndLeavesNothing) {
  const std::string folder = fresh_folder("bad");
  write_text(folder + "/bad.json", small_scenario({{"replica", 4}}).dump(1));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"check"}, {"run", "--out", folder + "/out"}}) {
    const CommandResult result = longhaul(command, {folder + "/bad.json"});
    expect_refused(result, {"bad.json: replica: unknown key", "did you mean \"replicas\"?"});
    EXPECT_FALSE(std::filesystem::exists(folder + "/out"));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

TEST(Help, IsThereForEachCommand) {
  const CommandResult all = longhaul({"help"}), run = longhaul({"help", "run"});
  EXPECT_EQ(all.status, 0);
  EXPECT_EQ(all.out, longhaul({"--help"}).out);
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, longhaul({"run", "--help"}).out);
  EXPECT_SAYS(run.out, "SCENARIO");
  expect_refused(longhaul({"help", "chekc"}), {"COMMAND: found \"chekc\"", "did you mean \"check\"?"});
}

TEST(BadInput, FlagsOfTheCommand) {
  const std::string scenario = scenario_file("small.json");
  expect_refused(longhaul({"run", scenario, "--shard", "3/2"}), {"--shard", "1 <= i <= n"});
  expect_refused(longhaul({"run", scenario, "--set", "replicas"}), {"--set", "key.path=value"});
  expect_refused(longhaul({"run", scenario, "--jobs", "0"}), {"--jobs"});
  expect_refused(longhaul({"run", scenario, "--frobnicate"}), {"--frobnicate"});
  expect_refused(longhaul({"list", "nothing"}), {"methods"});
  expect_refused(longhaul({"report", "/no/such/run"}), {"/no/such/run"});
  expect_refused(longhaul({"run", scenario, "--resume", "--overwrite"}), {"--resume excludes --overwrite"});
  expect_refused(longhaul({}), {"a command is missing"});
}

}  // namespace longhaul::commands_test
