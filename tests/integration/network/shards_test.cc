// The report and the verdicts of the shards of a suite are those of the suite in one run.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/integration/command.h"
#include "tests/integration/network/run_contents.h"
#include "tests/integration/network/suite.h"
#include "tests/support/said.h"

namespace longhaul::shards_test {

class Shards : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = fresh_folder("shards");
    const std::string scenario = write_suite(folder());
    ASSERT_EQ(run_suite(scenario, folder() + "/whole"), 0);
    for (const char* shard : {"1", "2", "3"})
      ASSERT_EQ(run_suite(scenario, folder() + "/" + shard, {"--shard", std::string(shard) + "/3"}), 0);
  }

  static std::string& folder() {
    static std::string path;
    return path;
  }
  static std::vector<std::string> runs(const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(folder() + "/" + name);
    return paths;
  }

  static Page report(const std::vector<std::string>& names) {
    const std::string file = folder() + "/" + names.back() + ".html";
    EXPECT_EQ(longhaul({"report", "-o", file}, runs(names)).status, 0);
    return page_of(read_text(file));
  }
  // What tells runs apart even if they hold the same: where they lie, when and how they ran.
  static Json without_runs_own(Json data) {
    for (Json& run : data["runs"]) {
      run.erase("folder");
      run.erase("manifest");
    }
    return data;
  }
  static std::string claims(const std::vector<std::string>& names) {
    const CommandResult result = longhaul({"claims"}, runs(names));
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  }
};

TEST_F(Shards, TheirReportIsThatOfTheUnsplitRun) {
  const Page whole = report({"whole"}), shards = report({"3", "1", "2"});
  EXPECT_EQ(shards.around, whole.around);
  EXPECT_EQ(whole.data["cases"].size(), static_cast<std::size_t>(kSuiteCases));
  EXPECT_EQ(without_runs_own(shards.data).dump(1), without_runs_own(whole.data).dump(1));
}

TEST_F(Shards, TheirVerdictsAreThoseOfTheUnsplitRun) {
  const std::string whole = claims({"whole"});
  EXPECT_SAYS(whole, "24 of 24 cases done");
  EXPECT_EQ(claims({"2", "3", "1"}), whole);
}

// A run that keeps totals alone says the same of its cases and claims.
TEST_F(Shards, TotalsAloneSayTheSame) {
  ASSERT_EQ(run_suite(folder() + "/suite.json", folder() + "/totals", {"--set", "tables=totals"}), 0);
  EXPECT_EQ(claims({"totals"}), claims({"whole"}));
  EXPECT_EQ(read_text(folder() + "/totals/summary.json"), read_text(folder() + "/whole/summary.json"));
  for (const auto& entry : std::filesystem::directory_iterator(folder() + "/totals/cases"))
    EXPECT_FALSE(std::filesystem::exists(entry.path() / "exchanges.csv")) << entry.path();
  EXPECT_EQ(report({"totals"}).data["cases"].size(), static_cast<std::size_t>(kSuiteCases));
}

TEST_F(Shards, AMissingOneIsNamedAndLeavesClaimsUndecided) {
  const Page page = report({"3", "1"});
  const Json& run = page.data["runs"].at(0);
  EXPECT_EQ(page.data["runs"].size(), 1u);
  EXPECT_SAYS(run["notes"].dump(), "8 of 24 cases are missing: this report was not given shard 2/3");
  ASSERT_FALSE(run["claims"].empty());
  for (const Json& claim : run["claims"]) {
    EXPECT_EQ(claim["verdict"], "undecided");
    EXPECT_SAYS(claim["grounds"].dump(), "8 cases of the scenario are in other shards");
  }
  EXPECT_SAYS(claims({"3", "1"}), "16 of 24 cases done. Not given: 2/3");
}

// A whole run of the scenario is no shard of it.
TEST_F(Shards, OnlyDifferentShardsBelongTogether) {
  EXPECT_EQ(report({"whole", "1"}).data["runs"].size(), 2u);
  EXPECT_EQ(report({"whole", "1", "2", "3"}).data["runs"].size(), 2u);
}

// The cases of shard 1 would be in no table of a run that goes on as shard 2.
TEST_F(Shards, AFolderOfOneShardIsNotContinuedAsAnother) {
  const std::string scenario = folder() + "/suite.json", run = folder() + "/copy";
  std::filesystem::copy(folder() + "/1", run, std::filesystem::copy_options::recursive);
  const std::string before = read_text(run + "/summary.json");
  expect_refused(longhaul({"run", scenario, "--out", run, "--resume", "--shard", "2/3"}),
                 {"--shard: found 2/3, but 8 cases in ", " are of other shards: they would be in no table",
                  "the shard that was run there, or no --shard"});
  EXPECT_EQ(read_text(run + "/summary.json"), before);
  // All of them is a union: what shard 1 did is kept, and the tables are those of the whole run.
  EXPECT_EQ(run_suite(scenario, run, {"--resume"}), 0);
  for (const char* table : {"summary.json", "exchanges.csv", "links.csv"})
    EXPECT_EQ(read_text(run + "/" + table), read_text(folder() + "/whole/" + table)) << table;
}

TEST_F(Shards, OverwritingRemovesTheRunAndNothingElse) {
  const std::string scenario = folder() + "/suite.json", run = folder() + "/again";
  ASSERT_EQ(run_suite(scenario, run, {"--shard", "1/3"}), 0);
  write_text(run + "/notes.txt", "mine");
  expect_refused(longhaul({"run", scenario, "--out", run, "--set", "replicas=8"}),
                 {"--overwrite to remove it"});
  EXPECT_EQ(run_suite(scenario, run, {"--overwrite", "--shard", "2/3"}), 0);
  EXPECT_EQ(read_text(run + "/summary.json"), read_text(folder() + "/2/summary.json"));
  std::size_t cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(run + "/cases")) cases += entry.is_directory();
  EXPECT_EQ(cases, summary_of(run)["cases"].size());
  EXPECT_EQ(read_text(run + "/notes.txt"), "mine");
  const std::string foreign = folder() + "/foreign";
  write_text(foreign + "/thesis.tex", "mine");
  EXPECT_EQ(run_suite(scenario, foreign, {"--overwrite"}), 2) << "no run: nothing is removed";
  EXPECT_EQ(read_text(foreign + "/thesis.tex"), "mine");
}

}  // namespace longhaul::shards_test
