// Wrong input: exit status 2, and one message that names the file, the JSON path, what was found and what is
// allowed.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/options.h"
#include "tests/integration/command.h"

namespace longhaul {
namespace {

Json small() {
  return Json::parse(read_text(scenario_file("small.json")));
}

struct BadInput {
  const char* name;
  Json scenario;
  std::vector<std::string> said;  // each must be in the message
};

void PrintTo(const BadInput& bad, std::ostream* out) {
  *out << bad.name;
}

std::vector<BadInput> bad_inputs() {
  std::vector<BadInput> bad;
  auto add = [&](const char* name, std::vector<std::string> said) -> Json& {
    bad.push_back({name, small(), std::move(said)});
    return bad.back().scenario;
  };
  add("UnknownKey",
      {"methods[1].inner_stepz", "did you mean \"inner_steps\"?"})["methods"][1]["inner_stepz"] = 10;
  add("UnknownTopKey", {"replica: unknown key", "did you mean \"replicas\"?"})["replica"] = 4;
  add("UnknownMethod",
      {"methods[0].name: found \"dilco\"", "did you mean \"diloco\"?"})["methods"][0]["name"] = "dilco";
  add("WrongUnit", {"network.topology.star.rtt", "\"50parsecs\"",
                    "\"50ms\""})["network"]["topology"]["star"]["rtt"] = "50parsecs";
  add("RateWithoutUnit", {"network.topology.star.rate",
                          "with its unit, in quotes"})["network"]["topology"]["star"]["rate"] = 1000000;
  add("NoReplicas", {"replicas: found 0", "an integer of at least 1"})["replicas"] = 0;
  add("OneReplica", {"replicas: found 1 with method \"ddp\""})["replicas"] = 1;
  Json& few = add("FewerReplicasThanAGroup", {"replicas: found 3 with groups of 4"});
  few["replicas"] = 3;
  few["methods"][2]["group_size"] = 4;
  add("InnerStepsBeyondSteps",
      {"methods[1].inner_steps: found 23, but there are only 22 steps"})["methods"][1]["inner_steps"] = 23;
  add("NothingMatches",
      {"train.data.text[0]", "nothing/*.here"})["train"]["data"] = {{"text", {"nothing/*.here"}}};
  add("TextShorterThanTheContext", {"train.data: the training part of the text has 95000 tokens",
                                    "at least context + 1, 100001"})["train"]["model"]["context"] = 100000;
  Json& large = add("MoreMemoryThanTheMachineHas",
                    {"train: method \"diloco\" needs about 825 TB of memory", "of this machine",
                     "fewer replicas or a smaller train.model"})["train"];
  large["model"].update({{"hidden", 65536}, {"layers", 500}});
  large["device"] = "cpu";
  Json& untrained =
      add("AClaimOnALossWithoutTraining", {"claims[0].metric: found \"final_loss\"", "add a train section"});
  untrained.erase("train");
  untrained["workload"].update({{"model", "llama-small"}, {"steps", 22}});
  untrained["claims"] = {{{"id", "low"}, {"metric", "final_loss"}, {"of", "ddp"}, {"at_most", 2}}};
  add("SeedBesideSeeds", {"seeds: found beside \"seed\""})["seeds"] = {1, 2};
  add("ATypoInTheSweep", {"sweep.\"network.tcp.conections\": unknown key",
                          "did you mean \"connections\""})["sweep"] = {{"network.tcp.conections", {1, 2}}};
  Json& bytes = add("VocabularyWithoutAllBytes",
                    {"train.model.vocabulary: found 128 with byte tokens", "at least 256"})["train"];
  bytes["model"]["vocabulary"] = 128;
  bytes["data"] = {{"corpus", "system-headers"}};
  add("UnknownRegion", {"network.topology.regions.replicas.atlantis", "oregon"})["network"]["topology"] = {
      {"regions", {{"matrix", "aws-2022"}, {"replicas", {{"atlantis", 4}}}}}};
  add("UnknownMatrix", {"network.topology.regions.matrix", "aws-2022"})["network"]["topology"] = {
      {"regions", {{"matrix", "aws-2021"}, {"replicas", {{"oregon", 4}}}}}};
  add("PlacementDoesNotAddUp", {"network.topology.regions.replicas",
                                "places 3 replicas, the scenario has 4"})["network"]["topology"] = {
      {"regions", {{"matrix", "aws-2022"}, {"replicas", {{"oregon", 3}}}}}};
  add("RateZero", {"network.topology.star.rate"})["network"]["topology"]["star"]["rate"] = "0bps";
  add("HeadsDoNotDivide", {"train.model.heads"})["train"]["model"]["heads"] = 3;
  add("FlowWithAFifo", {"network.tcp.queue: found", "packet"})["network"]["tcp"] = {{"queue", "fifo"}};
  add("FlowWithAFifoAtRouters",
      {"network.tcp.trunk_queue", "packet"})["network"]["tcp"] = {{"trunk_queue", "fifo"}};
  return bad;
}

void expect_refused(const CommandResult& result, const std::vector<std::string>& said) {
  EXPECT_EQ(result.status, 2) << result.out << result.err;
  for (const std::string& words : said)
    EXPECT_NE(result.err.find(words), std::string::npos) << words << " not in: " << result.err;
}

class BadInputTest : public testing::TestWithParam<BadInput> {};

TEST_P(BadInputTest, ExitsWith2AndOneClearMessage) {
  const std::string folder = fresh_folder("bad"), file = folder + "/bad.json";
  write_text(file, GetParam().scenario.dump(1));
  std::vector<std::string> said = GetParam().said;
  said.push_back("bad.json: ");
  for (const char* command : {"check", "run"}) {
    std::vector<std::string> arguments = {command, file};
    if (arguments[0] == "run") arguments.insert(arguments.end(), {"--out", folder + "/out"});
    const CommandResult result = longhaul(arguments);
    expect_refused(result, said);
    EXPECT_FALSE(std::filesystem::exists(folder + "/out"));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, BadInputTest, testing::ValuesIn(bad_inputs()),
                         [](const auto& info) { return info.param.name; });

TEST(BadInput, AFileThatIsNotJson) {
  const std::string file = fresh_folder("bad") + "/broken.json";
  write_text(file, "{\n  \"replicas\": 4,\n}\n");
  expect_refused(longhaul({"run", file}), {"broken.json: line 3, column 1", "is not JSON"});
  expect_refused(longhaul({"run", "/no/such/file.json"}), {"/no/such/file.json", "does not exist"});
}

TEST(BadInput, AFolderInsteadOfAScenario) {
  const std::string folder = fresh_folder("folder");
  expect_refused(longhaul({"check", folder}), {folder + ": is a folder", "a scenario file (JSON)"});
}

TEST(Help, IsThereForEachCommand) {
  const CommandResult all = longhaul({"help"}), run = longhaul({"help", "run"});
  EXPECT_EQ(all.status, 0);
  EXPECT_EQ(all.out, longhaul({"--help"}).out);
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, longhaul({"run", "--help"}).out);
  EXPECT_NE(run.out.find("SCENARIO"), std::string::npos);
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
  expect_refused(longhaul({"chek", scenario}), {"found the command \"chek\"", "did you mean \"check\"?"});
}

TEST(BadInput, FlagsOfTheTrainer) {
  expect_refused(run_command_line("longhaul-train", {"--outer-state", "nowhere"}),
                 {"error: --outer-state: found \"nowhere\"; allowed: auto, card, host"});
  expect_refused(run_command_line("longhaul-train", {}),
                 {"error: --case: is missing; allowed: a resolved case (case.json); longhaul-train --help"});
  expect_refused(run_command_line("longhaul-train", {"--case", "a.json", "--devices", "cpu"}),
                 {"error: --devices: unknown option of longhaul-train", "did you mean \"--device\"?"});
  expect_refused(run_command_line("longhaul-sim", {}),
                 {"error: --", ": is missing; ", "longhaul-sim --help"});
  expect_refused(run_command_line("longhaul-train", {"--peak-flops", "0"}), {"--peak-flops"});
}

TEST(BadInput, CudaWithoutAGpu) {
  const std::string out = fresh_folder("cuda");
  const CommandResult result =
      longhaul({"run", scenario_file("small.json"), "--out", out, "--device", "cuda"});
  if (result.status == 0) GTEST_SKIP() << "this machine has a GPU";
  expect_refused(result, {"cuda", "cpu"});
}

}  // namespace
}  // namespace longhaul
