// Both forms of a comparison, of losses that can be worked out: a is 2, 3, 4, b is 3, 4, 5 of the same
// seeds, so the difference is -1 without scatter.
#include <gtest/gtest.h>

#include "analysis/comparison/comparison.h"
#include "tests/support/said.h"
#include "tests/unit/analysis/compared_runs.h"

namespace longhaul::comparison_render_test {

ComparisonTable table() {
  return compare_runs({run_of(losses_of({{"a", {2, 3, 4}}, {"b|c", {3, 4, 5}}}))},
                      {"method", {"final_loss"}, {}});
}

// Mean 3 and 4, t(0.975, 2) = 4.3027 times 1/√3.
TEST(ComparisonRender, MarkdownKeepsItsCells) {
  const std::string text = comparison_markdown(table());
  EXPECT_SAYS(text, "| method | seeds | mean | 95 % interval |\n|---|---:|---:|---|\n");
  EXPECT_SAYS(text, "| b\\|c | 3 | 4.0000 | [1.5159, 6.4841] |\n");
  EXPECT_SAYS(text,
              "| a | b\\|c | **better** | difference -1.0000 [-1.0000, -1.0000], 3 pairs, p &lt; 0.0001 |");
  EXPECT_SAYS(text, "lower is better");
}

TEST(ComparisonRender, JsonReadsBack) {
  const Json json = comparison_json(table());
  EXPECT_EQ(json["tests"], 1);
  const Json& row = json["metrics"][0]["rows"][0];
  EXPECT_EQ(row["groups"][0]["values"], Json({2., 3., 4.}));
  EXPECT_EQ(row["comparisons"][0]["verdict"], "better");
  EXPECT_EQ(row["comparisons"][0]["confidence"], 0.95);
}

}  // namespace longhaul::comparison_render_test
