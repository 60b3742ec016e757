// The published figures in the tree: each can be held against its scenario, says where it is from, and stands
// in the tables of them. tests/integration/network/validate_test.cc runs them.
#include <gtest/gtest.h>

#include "cli/commands.h"
#include "cli/validated_scenario.h"
#include "tests/support/files.h"
#include "tests/support/said.h"

namespace longhaul::validation_scenarios_test {

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

}  // namespace longhaul::validation_scenarios_test
