#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/claims/claims.h"
#include "tests/support/said.h"
#include "tests/unit/analysis/compared_runs.h"

namespace longhaul::verdict_matrix_test {

Json record(const std::string& label, const Json& swept, double sync_s) {
  return compared_record(label, 1, swept, {{"fidelity", "packet"}, {"sync_time_s", {{"mean", sync_s}}}});
}

// A tree that takes N seconds and a ring that takes 3, on a slow and on a fast link, against a pair's 1: the
// ratios are N and 3, and the link decides nothing.
std::vector<Json> made_up_sweep() {
  std::vector<Json> records;
  for (const char* rate : {"slow", "fast"})
    for (const int n : {2, 16, 64}) {
      const Json point = {{"rate", rate}, {"replicas", n}};
      Json tree = point, ring = point;
      tree["methods.a.all_reduce"] = "tree";
      ring["methods.a.all_reduce"] = "ring";
      records.push_back(record("a", tree, n));
      records.push_back(record("a", ring, 3));
      records.push_back(record("b", point, 1));
    }
  return records;
}

const Json kClaim = {
    {"id", "ten"}, {"ratio", "sync_time_s.mean"}, {"of", "a"}, {"to", "b"}, {"at_least", 10}};

TEST(VerdictMatrix, TakesTheAxesThatDecide) {
  const VerdictMatrix matrix = verdict_matrix(kClaim, made_up_sweep());
  EXPECT_EQ(matrix.row_key, "methods.a.all_reduce");
  EXPECT_EQ(matrix.column_key, "replicas");
  EXPECT_EQ(matrix.rows, (std::vector<std::string>{"tree", "ring"}));
  EXPECT_EQ(matrix.columns, (std::vector<std::string>{"2", "16", "64"}));
  EXPECT_EQ(matrix.all.points(), 12);
  EXPECT_EQ(matrix.all.holds, 4);
}

// Objects of a sweep give their numbers in any order.
TEST(VerdictMatrix, PutsNumbersInOrder) {
  std::vector<Json> records = made_up_sweep();
  std::reverse(records.begin(), records.end());
  EXPECT_EQ(verdict_matrix(kClaim, records).columns, (std::vector<std::string>{"2", "16", "64"}));
}

TEST(VerdictMatrix, SaysThatNothingWasRun) {
  const std::string text = verdict_markdown(kClaim, {record("b", {{"replicas", 2}}, 1)});
  EXPECT_SAYS(text, "Not run.");
  EXPECT_EQ(text.find("holds"), std::string::npos) << text;
}

TEST(VerdictMatrix, CountsVerdictsAndRangesInACell) {
  const VerdictMatrix matrix = verdict_matrix(kClaim, made_up_sweep());
  const VerdictCell& tree_of_2 = matrix.cells[0][0];
  EXPECT_EQ(tree_of_2.fails, 2);
  EXPECT_DOUBLE_EQ(tree_of_2.high, 2);
  const VerdictCell& tree_of_64 = matrix.cells[0][2];
  EXPECT_EQ(tree_of_64.holds, 2);
  EXPECT_DOUBLE_EQ(tree_of_64.low, 64);
  EXPECT_DOUBLE_EQ(matrix.cells[1][2].high, 3);
}

TEST(VerdictMatrix, SaysTheFrontierInWords) {
  const std::vector<std::string> lines = frontier(verdict_matrix(kClaim, made_up_sweep()));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "tree: holds from replicas = 16 on; at most 64 at replicas = 64");
  EXPECT_EQ(lines[1], "ring: holds nowhere; at most 3 at replicas = 2");
}

// One key that varies makes one row; the order of its values is that of the sweep.
TEST(VerdictMatrix, OfOneKeyHasOneRow) {
  std::vector<Json> records;
  for (const int n : {2, 16, 64}) {
    records.push_back(record("a", {{"replicas", n}}, n));
    records.push_back(record("b", {{"replicas", n}}, 1));
  }
  const VerdictMatrix matrix = verdict_matrix(kClaim, records);
  EXPECT_EQ(matrix.row_key, "");
  EXPECT_EQ(matrix.column_key, "replicas");
  ASSERT_EQ(matrix.cells.size(), 1u);
  EXPECT_DOUBLE_EQ(matrix.cells[0][1].low, 16);
  EXPECT_EQ(frontier(matrix),
            std::vector<std::string>{"holds from replicas = 16 on; at most 64 at replicas = 64"});
  EXPECT_SAYS(verdict_markdown(kClaim, records), "| replicas | 2 | 16 | 64 |");
}

// Texts of users neither end a cell nor begin a tag.
TEST(VerdictMatrix, KeepsTextsOfUsersInTheirPlace) {
  std::vector<Json> records;
  for (const char* value : {"a|b", "<b>c\nd"}) {
    records.push_back(record("a", {{"replicas", value}}, 12));
    records.push_back(record("b", {{"replicas", value}}, 1));
  }
  Json claim = kClaim;
  claim["statement"] = "it is\n<script>alert(1)</script>";
  const std::string text = verdict_markdown(claim, records);
  EXPECT_SAYS(text, "| replicas | a\\|b | &lt;b>c d |\n|---|---|---|\n");
  EXPECT_SAYS(text, "*it is &lt;script>alert(1)&lt;/script>*\n");
  EXPECT_EQ(text.find('<'), std::string::npos) << text;
}

TEST(ClaimPictures, HoldWhatTheMatrixHolds) {
  const Json pictures = claim_pictures(Json::array({kClaim}), made_up_sweep());
  ASSERT_EQ(pictures.size(), 1u);
  EXPECT_EQ(pictures[0]["bound"], "at_least");
  EXPECT_EQ(pictures[0]["threshold"], 10);
  EXPECT_EQ(pictures[0]["cells"][0][2], Json({64, 64, 2, 0, 0, 64, 64, "64"}));
  EXPECT_EQ(pictures[0]["cells"][1][0], Json({3, 3, 0, 0, 2, 3, 3, "3"}));
  EXPECT_EQ(pictures[0]["numbers"], true);
  EXPECT_TRUE(claim_pictures(Json::array({kClaim}), {record("a", Json::object(), 1)}).empty());
}

TEST(VerdictMatrix, SaysWhatWasNotRun) {
  std::vector<Json> records = made_up_sweep();
  for (Json& entry : records)
    if (entry["swept"]["replicas"] == 64) entry["status"] = "interrupted";
  const std::string text = verdict_markdown(kClaim, records);
  EXPECT_SAYS(text, "| tree | 2 fails | **16 holds** | not run |");
  EXPECT_SAYS(text, "12 points: 2 – 16, 2 hold, 4 undecided, 6 fail.");
}

// 12.6 is within 3 % of 12.4, 13 is not; both fidelities hold, so it holds everywhere.
TEST(VerdictMatrix, PrintsWhatItsVerdictSays) {
  std::vector<Json> records;
  for (const char* fidelity : {"analytic", "flow"}) {
    records.push_back(record("a", {{"fidelity", fidelity}}, 12.58));
    records.push_back(record("b", {{"fidelity", fidelity}}, 1));
  }
  Json claim = {{"id", "c"},     {"ratio", "sync_time_s.mean"}, {"of", "a"}, {"to", "b"}, {"equals", 12.4},
                {"within", 0.03}};
  const std::string text = verdict_markdown(claim, records);
  EXPECT_SAYS(text, "**12.6 holds** | **12.6 holds**");
  EXPECT_SAYS(text, "- holds at every point; at most 12.6");
  const std::string word =
      verdict_markdown(kClaim, {record("a", Json::object(), 10.7), record("b", Json::object(), 1)});
  EXPECT_SAYS(word, ". 1 point: 10.7, holds.");
}

}  // namespace longhaul::verdict_matrix_test
