// The scenarios of the paper's figures are valid as they stand; running them takes minutes.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "cli/validated_scenario.h"
#include "methods/common/registry.h"

namespace longhaul::paper_scenarios_test {

TEST(PaperScenarios, AreValidAndMakeClaims) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LONGHAUL_SOURCE_DIR "/scenarios/paper")) {
    const Scenario scenario = validated_scenario(entry.path().string(), {});
    EXPECT_GT(scenario.cases.size(), 0u) << entry.path();
    EXPECT_GT(claims_of(scenario).size(), 0u) << entry.path();
    ++count;
  }
  EXPECT_GT(count, 0);
}

// A label means one thing in all studies of the loss: an hour on a card is not spent on settings that a later
// tuning has replaced.
TEST(PaperScenarios, ArmsOfOneLabelHaveOneMethod) {
  std::map<std::string, std::pair<Json, std::string>> arms;
  int shared = 0;
  for (const char* name :
       {"perplexity", "perplexity-tuned", "perplexity-gpu", "perplexity-size", "loss-regime"}) {
    const Scenario scenario =
        validated_scenario(fmt::format("{}/scenarios/paper/{}.json", LONGHAUL_SOURCE_DIR, name), {});
    for (const Json& method : scenario.resolved.at("methods")) {
      const std::string label = method.value("label", method.at("name").get<std::string>());
      const auto [known, is_new] = arms.try_emplace(label, method, name);
      EXPECT_EQ(known->second.first, method) << label << " of " << name << " and " << known->second.second;
      shared += is_new ? 0 : 1;
    }
  }
  EXPECT_GT(shared, 5);
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

}  // namespace longhaul::paper_scenarios_test
