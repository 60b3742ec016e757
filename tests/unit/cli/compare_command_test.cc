// longhaul compare on run directories of which some cannot be used.
#include <gtest/gtest.h>

#include <filesystem>

#include "analysis/runs/run_directory.h"
#include "cli/commands.h"
#include "core/base/errors.h"
#include "tests/support/files.h"
#include "tests/support/said.h"
#include "tests/unit/analysis/compared_runs.h"

namespace longhaul::compare_command_test {

namespace fs = std::filesystem;

class CompareCommand : public testing::Test {
 protected:
  CompareCommand() {
    std::vector<Json> records;
    for (int seed = 1; seed <= 2; ++seed)
      for (const char* label : {"a", "b"})
        records.push_back(compared_record(label, seed, Json::object(), {{"final_loss", seed}}));
    fs::create_directories(folder_ + "/run");
    write_summary(folder_ + "/run", "s", records);
    write_text(folder_ + "/newer/summary.json", R"({"format": 99, "cases": []})");
    options_.runs = {folder_ + "/run"};
    options_.out = folder_ + "/out.json";
  }

  std::string written() const { return read_text(folder_ + "/out.json"); }

  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path;
  CompareOptions options_;
};

TEST_F(CompareCommand, NamesWhatItCannotReadAndComparesTheRest) {
  options_.runs = {folder_ + "/newer", folder_ + "/run", folder_ + "/none"};
  EXPECT_EQ(compare_command(options_), 0);
  const Json json = Json::parse(written());
  EXPECT_EQ(json["metrics"][0]["rows"][0]["groups"].size(), 2u);
  EXPECT_SAYS(json["notes"][0].get<std::string>(), "newer Longhaul");
  EXPECT_SAYS(json["notes"][1].get<std::string>(), "none: is no run directory");
}

TEST_F(CompareCommand, TheFormatFollowsTheEndingUnlessItIsGiven) {
  compare_command(options_);
  EXPECT_EQ(written().rfind("{", 0), 0u);
  options_.format = "markdown";
  compare_command(options_);
  EXPECT_EQ(written().rfind("### What to conclude", 0), 0u);
  EXPECT_SAYS(written(), "\n### final_loss");
  options_.request.metrics = {"final_loss"};  // who asks for a number has a question of their own
  compare_command(options_);
  EXPECT_EQ(written().rfind("### final_loss", 0), 0u);
}

TEST_F(CompareCommand, WritesNoCsv) {
  options_.out = folder_ + "/out.csv";
  EXPECT_THROW(compare_command(options_), InputError);
  EXPECT_FALSE(fs::exists(options_.out));
}

}  // namespace longhaul::compare_command_test
