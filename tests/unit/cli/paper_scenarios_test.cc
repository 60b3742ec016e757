// The scenarios of the paper's figures are valid as they stand; running them takes minutes.
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/validated_scenario.h"

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

}  // namespace
}  // namespace longhaul
