#include <gtest/gtest.h>

#include "cli/commands.h"

namespace longhaul::scenario_list_test {

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

}  // namespace longhaul::scenario_list_test
