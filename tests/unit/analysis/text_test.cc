#include "analysis/text.h"

#include <gtest/gtest.h>

namespace longhaul::text_test {

TEST(Markdown, ATextStaysInItsCell) {
  EXPECT_EQ(markdown_row({"ring", "a|b"}), "| ring | a\\|b |\n");
  EXPECT_EQ(markdown_text("one\r\ntwo"), "one  two");
  EXPECT_EQ(markdown_text("<img src=x>"), "&lt;img src=x>");
  EXPECT_EQ(markdown_text("p < 0.05, \u00b5"), "p &lt; 0.05, \u00b5");
}

// Numbers stand on the right, as the rule says; the second paragraph is 13 columns wide at most.
TEST(Markdown, OnATerminalTablesAreAlignedAndTextIsWrapped) {
  EXPECT_EQ(terminal_text("### A **b**\n\n| of | n |\n|---|---:|\n| a\\|µ | 10 |\n| **x** | 2 |\n\n- one two "
                          "three\n- p &lt; 1\n",
                          13),
            "A b\n\n  of    n\n  a|µ  10\n  x     2\n\n- one two\n  three\n- p < 1\n");
}

}  // namespace longhaul::text_test
