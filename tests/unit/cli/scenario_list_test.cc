#include <gtest/gtest.h>

#include "cli/commands.h"

namespace longhaul {
namespace {

TEST(ScenarioList, EveryScenarioOfTheTreeHasASentence) {
  const std::vector<ScenarioInfo> all = scenarios_in(LONGHAUL_SOURCE_DIR "/scenarios");
  EXPECT_GT(all.size(), 10u);
  int in_subfolders = 0;
  for (const ScenarioInfo& one : all) {
    EXPECT_GT(one.about.size(), 20u) << one.file;
    EXPECT_EQ(one.file.find("schema"), std::string::npos);
    EXPECT_EQ(one.file.find("/networks/"), std::string::npos);
    in_subfolders += one.file.find("/paper/") != std::string::npos;
  }
  EXPECT_GT(in_subfolders, 3);
}

TEST(ScenarioList, ASentenceEndsWhereTheNextBegins) {
  EXPECT_EQ(first_sentence("Is it ten times? A star."), "Is it ten times?");
  EXPECT_EQ(first_sentence("Fig. 5A (arXiv 2506.10911): trees. Then more."),
            "Fig. 5A (arXiv 2506.10911): trees.");
  EXPECT_EQ(first_sentence("One only"), "One only");
}

}  // namespace
}  // namespace longhaul
