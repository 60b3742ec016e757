// The scenarios of the paper's figures are valid as they stand; running them takes minutes.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "cli/validated_scenario.h"
#include "methods/common/registry.h"

namespace longhaul {
namespace {

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

// Every method is in the comparison of all.
TEST(MethodScenarios, HaveEveryMethod) {
  const Scenario scenario =
      validated_scenario(LONGHAUL_SOURCE_DIR "/scenarios/methods/equal-tokens.json", {});
  std::set<std::string> trained, there;
  for (const Case& one : scenario.cases) trained.insert(one.method.name);
  for (const Method& method : methods()) there.insert(method.name);
  there.erase("fsdp");  // whose numbers are ddp's
  EXPECT_EQ(trained, there);
}

}  // namespace
}  // namespace longhaul
