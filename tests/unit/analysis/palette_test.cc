// A colour follows from a name.
#include "analysis/palette.h"

#include <gtest/gtest.h>

#include <set>

namespace longhaul::palette_test {

// Two figures of one paper: what else a scenario has, and in which order, moves no colour.
TEST(Palette, AMethodKeepsItsColourWhateverStandsBesideIt) {
  const auto two = method_colors({"diloco", "noloco"}),
             more = method_colors({"ddp", "mine", "noloco", "diloco"});
  EXPECT_EQ(two.at("diloco"), more.at("diloco"));
  EXPECT_EQ(two.at("noloco"), more.at("noloco"));
  EXPECT_EQ(more.at("mine"), method_colors({"mine", "ddp", "diloco", "noloco"}).at("mine"));
  EXPECT_EQ(method_colors({"b", "a", "c"}), method_colors({"c", "b", "a"}));
}

TEST(Palette, UpToEightLabelsHaveEightColours) {
  std::vector<std::string> labels;
  for (int i = 0; i < 8; ++i) labels.push_back("variant " + std::to_string(i));
  std::set<std::string> used;
  for (const auto& [label, color] : method_colors(labels)) used.insert(color);
  EXPECT_EQ(used.size(), 8u);
  labels.push_back("diloco");
  const auto nine = method_colors(labels);
  EXPECT_EQ(nine.size(), 9u);
  EXPECT_EQ(nine.at("diloco"), method_palette()[0]);
}

}  // namespace longhaul::palette_test
