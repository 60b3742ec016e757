#include "analysis/text.h"

#include <gtest/gtest.h>

namespace longhaul {
namespace {

TEST(Markdown, ATextStaysInItsCell) {
  EXPECT_EQ(markdown_cell("ring"), "ring | ");
  EXPECT_EQ(markdown_cell("a|b"), "a\\|b | ");
  EXPECT_EQ(markdown_text("one\r\ntwo"), "one  two");
  EXPECT_EQ(markdown_text("<img src=x>"), "&lt;img src=x>");
  EXPECT_EQ(markdown_text("p < 0.05, \u00b5"), "p &lt; 0.05, \u00b5");
}

}  // namespace
}  // namespace longhaul
