#include <gtest/gtest.h>

#include "analysis/report/parts.h"
#include "analysis/table.h"

namespace longhaul::seed_means_test {

std::size_t column_of(const std::string& path) {
  std::size_t i = 0;
  while (columns().at(i).path != path) ++i;
  return i;
}

Json record(const std::string& label, int seed, double loss) {
  return {{"label", label}, {"status", "done"}, {"seed", seed}, {"exchanges", 1}, {"final_loss", loss}};
}

// Of 1, 2, 3: mean 2, standard error 1/√3, t(0.975, 2) = 4.302653 (a table of Student's t): half 2.484138.
// The text is that of the terminal.
TEST(SeedMeans, HaveStudentsInterval) {
  const Json rows = seed_means({record("a", 1, 1), record("a", 2, 2), record("a", 3, 3)}, {4, 5, 6});
  const std::size_t loss = column_of("final_loss");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["cases"], Json({4, 5, 6}));
  EXPECT_EQ(rows[0]["seeds"], 3);
  EXPECT_EQ(rows[0]["values"][loss], 2);
  EXPECT_EQ(rows[0]["texts"][loss], "2.000 ± 2.484");
}

TEST(SeedMeans, MarkTheLowestMean) {
  const Json rows = seed_means(
      {record("a", 1, 1), record("a", 2, 3), record("b", 1, 1.5), record("b", 2, 1.7)}, {0, 1, 2, 3});
  const std::size_t loss = column_of("final_loss");
  EXPECT_EQ(rows[0]["best"][loss], 0);
  EXPECT_EQ(rows[1]["best"][loss], 1);
}

// What one seed lacks is not averaged as if it had it, and cannot be the best.
TEST(SeedMeans, SayHowManySeedsHaveANumber) {
  Json lacks = record("a", 2, 0);
  lacks.erase("final_loss");
  const Json rows =
      seed_means({record("a", 1, 1), lacks, record("b", 1, 5), record("b", 2, 6)}, {0, 1, 2, 3});
  const std::size_t loss = column_of("final_loss");
  EXPECT_EQ(rows[0]["texts"][loss], "1.000 (1 of 2 seeds)");
  EXPECT_TRUE(rows[0]["values"][loss].is_null());
  EXPECT_EQ(rows[0]["best"][loss], 0);
}

TEST(SeedMeans, LeaveOutWhatIsNotDone) {
  Json failed = record("a", 2, 100);
  failed["status"] = "failed";
  const Json rows = seed_means({record("a", 1, 1), failed, record("a", 3, 3)}, {0, 1, 2});
  EXPECT_EQ(rows[0]["seeds"], 2);
  EXPECT_EQ(rows[0]["values"][column_of("final_loss")], 2);
}

// The page takes the cells of the case itself.
TEST(SeedMeans, OfOneSeedHaveNoCells) {
  EXPECT_FALSE(seed_means({record("a", 1, 1), record("b", 1, 2)}, {0, 1})[0].contains("texts"));
}

}  // namespace longhaul::seed_means_test
