// The scenarios of the tree: listed, valid, and as they promise; running them takes minutes. The one that
// longhaul new writes. Pairs by sites: a validated scenario says in each case who is where, and only there.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "checks/validated_scenario.h"
#include "cli/commands.h"
#include "core/base/errors.h"
#include "methods/common/registry.h"
#include "tests/support/files.h"
#include "tests/support/said.h"

namespace longhaul::scenarios_test {

TEST(ScenarioList, EveryScenarioOfTheTreeHasASentence) {
  const std::vector<ScenarioInfo> all = scenarios_in(LONGHAUL_SOURCE_DIR "/scenarios");
  EXPECT_GT(all.size(), 10u);
  int in_subfolders = 0;
  for (const ScenarioInfo& scenario_info : all) {
    EXPECT_GT(scenario_info.about.size(), 20u) << scenario_info.file;
    EXPECT_EQ(scenario_info.file.find("schema"), std::string::npos);
    EXPECT_EQ(scenario_info.file.find("/networks/"), std::string::npos);
    in_subfolders += scenario_info.file.find("/paper/") != std::string::npos;
  }
  EXPECT_GT(in_subfolders, 3);
}

TEST(ScenarioList, ASentenceEndsWhereTheNextBegins) {
  EXPECT_EQ(first_sentence("Is it ten times? A star."), "Is it ten times?");
  EXPECT_EQ(first_sentence("Fig. 5A (arXiv 2506.10911): trees. Then more."),
            "Fig. 5A (arXiv 2506.10911): trees.");
  EXPECT_EQ(first_sentence("One only"), "One only");
}

TEST(NewCommand, WritesAValidScenarioThatNamesItsSchema) {
  const TemporaryFolder folder;
  const std::string file = folder.file("my.jsonc");
  ASSERT_EQ(new_command(file), kDone);
  const Scenario scenario = validated_scenario(file, {});
  EXPECT_EQ(scenario.name, "my");
  EXPECT_EQ(scenario.cases.size(), 9u);  // three methods, three seeds
  const std::string schema = scenario.written["$schema"], scheme = "file://";
  ASSERT_EQ(schema.rfind(scheme, 0), 0u) << schema;
  EXPECT_TRUE(std::filesystem::exists(schema.substr(scheme.size()))) << schema;
  write_text(file, "mine");  // what exists stays
  EXPECT_THROW(new_command(file), InputError);
  EXPECT_EQ(read_text(file), "mine");
}

// A label means one thing in all studies of the loss: no hour on a card goes into settings tuned anew since.
TEST(PaperScenarios, MakeClaimsAndArmsOfOneLabelHaveOneMethod) {
  const std::set<std::string> studies = {"perplexity", "perplexity-tuned", "perplexity-gpu",
                                         "perplexity-size", "loss-regime"};
  std::map<std::string, std::pair<Json, std::string>> arms;
  std::size_t shared = 0, found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LONGHAUL_SOURCE_DIR "/scenarios/paper")) {
    const Scenario scenario = validated_scenario(entry.path().string(), {});
    const std::string name = entry.path().stem();
    EXPECT_GT(scenario.cases.size(), 0u) << name;
    EXPECT_GT(claims_of(scenario).size(), 0u) << name;
    if (studies.count(name) == 0) continue;
    ++found;
    for (const Json& method : scenario.resolved.at("methods")) {
      const std::string label = method.value("label", method.at("name").get<std::string>());
      const auto [known, is_new] = arms.try_emplace(label, method, name);
      EXPECT_EQ(known->second.first, method) << label << " of " << name << " and " << known->second.second;
      shared += is_new ? 0 : 1;
    }
  }
  EXPECT_EQ(found, studies.size());
  EXPECT_GT(shared, 5u);
}

// Every method is in the comparison of all.
TEST(MethodScenarios, HaveEveryMethod) {
  const Scenario scenario =
      validated_scenario(LONGHAUL_SOURCE_DIR "/scenarios/methods/equal-tokens.json", {});
  std::set<std::string> trained, there;
  for (const Case& config : scenario.cases) trained.insert(config.method.name);
  for (const Method& method : methods()) there.insert(method.name);
  there.erase("fsdp");  // whose numbers are ddp's
  EXPECT_EQ(trained, there);
}

const std::string kFolder = LONGHAUL_SOURCE_DIR "/scenarios/validation";

TEST(ValidationScenarios, AreValidTrainNothingAndStandOnThePage) {
  const std::string text = read_text(LONGHAUL_SOURCE_DIR "/results/reference/validation/tables.md");
  const std::vector<std::string> files = validation_files(kFolder, {});
  EXPECT_GT(files.size(), 10u);
  for (const std::string& file : files) {
    const Scenario scenario = validated_scenario(file, {});
    ASSERT_TRUE(scenario.resolved.contains("validation")) << file;
    for (const Case& config : scenario.cases) EXPECT_FALSE(config.train) << file;
    EXPECT_SAYS(text, "### " + scenario.name + ": ")
        << scenario.name << " is not in results/reference/validation/tables.md: make validation";
    for (const Json& figure : scenario.resolved["validation"]["figures"])
      EXPECT_SAYS(text, figure["what"].get<std::string>()) << figure["what"];
  }
}

TEST(ValidationFiles, AreNamesOfTheFolderOrFiles) {
  EXPECT_EQ(validation_files(kFolder, {"pccl-europe", "mine.json"}),
            (std::vector<std::string>{kFolder + "/pccl-europe.json", "mine.json"}));
  const InputError error = thrown_by([&] { validation_files(kFolder, {"pccl-europa"}); });
  EXPECT_EQ(error.parts().path, "NAME");
  EXPECT_SAYS(error.what(), "did you mean \"pccl-europe\"?");
  EXPECT_SAYS(error.parts().allowed, "pccl-atlantic");
  EXPECT_THROW(validation_files("", {}), InputError);
}

// torchft sends an operation for each tensor of what it averages; Gloo leaves that to its user. What a
// scenario says stays.
TEST(Libraries, SayWhatAScenarioDoesNot) {
  const auto options_of = [](const char* library, const Json& method) {
    const Json scenario = {
        {"replicas", 4},
        {"methods", {method}},
        {"workload", {{"model", "llama-small"}, {"steps", 100}}},
        {"network", {{"library", library}, {"topology", {{"star", {{"rate", "1Gbps"}, {"rtt", "40ms"}}}}}}}};
    const TemporaryFolder folder;
    write_text(folder.file("library.json"), scenario.dump());
    return validated_scenario(folder.file("library.json"), {}).cases[0].method.options;
  };
  for (const char* name : {"diloco", "local-sgd", "ddp"}) {
    EXPECT_EQ(options_of("torchft", {{"name", name}})["tensors"],
              name == std::string("ddp") ? "flat" : "together");
    EXPECT_EQ(options_of("torchft", {{"name", name}})["all_reduce"], "library");
    EXPECT_EQ(options_of("torchft", {{"name", name}, {"tensors", "25MiB"}})["tensors"], "25MiB");
    EXPECT_EQ(options_of("gloo", {{"name", name}})["tensors"], "flat");
  }
}

// NoLoCo's pairs of two replicas at each of three sites.
Case at_three_sites(const Json& network, const Json& method = Json{{"pairing", "sites"}}) {
  Json scenario = Json::parse(R"({"replicas": 6, "methods": [{"name": "noloco", "inner_steps": 10}],
    "workload": {"parameters": 1000, "steps": 40}, "network": {"topology": {"regions": {"matrix": "aws-2022",
    "replicas": {"oregon": 2, "virginia": 2, "london": 2}}}}})");
  scenario["network"].update(network);
  scenario["methods"][0].update(method);
  const TemporaryFolder folder;
  write_text(folder.file("sites.json"), scenario.dump());
  return validated_scenario(folder.file("sites.json"), {}).cases[0];
}

TEST(Sites, AreResolvedForPairsBySites) {
  const Case config = at_three_sites(Json::object());
  EXPECT_EQ(config.site_of, (std::vector<int>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(config.resolved["sites"], Json(config.site_of));
  EXPECT_EQ(parse_case(config.resolved).site_of, config.site_of) << "as the trainer reads it";
  EXPECT_EQ(trace_of(config).groups, trace_of(parse_case(config.resolved)).groups);
  // In the order of the first replicas: London is where rank 0 is.
  EXPECT_EQ(at_three_sites({{"rank_order", {5, 0, 2, 1, 4, 3}}}).site_of,
            (std::vector<int>{0, 1, 2, 1, 0, 2}));
  const Case random_pairs = at_three_sites(Json::object(), Json::object());  // nothing depends on them
  EXPECT_TRUE(random_pairs.site_of.empty());
  EXPECT_FALSE(random_pairs.resolved.contains("sites"));
}

}  // namespace longhaul::scenarios_test
