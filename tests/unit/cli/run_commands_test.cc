// longhaul compare on run directories of which some cannot be used; longhaul plot, which needs matplotlib.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "analysis/runs/run_directory.h"
#include "cli/commands.h"
#include "core/base/errors.h"
#include "tests/support/files.h"
#include "tests/support/said.h"
#include "tests/unit/analysis/compared_runs.h"

namespace longhaul::run_commands_test {

namespace fs = std::filesystem;

class CompareCommand : public testing::Test {
 protected:
  CompareCommand() {
    fs::create_directories(folder_.file("run"));
    write_summary(folder_.file("run"), "s", losses_of({{"a", {1, 2}}, {"b", {1, 2}}}));
    write_text(folder_.file("newer/summary.json"), R"({"format": 99, "cases": []})");
    options_.runs = {folder_.file("run")};
    options_.out = folder_.file("out.json");
  }

  std::string written() const { return read_text(folder_.file("out.json")); }

  const TemporaryFolder folder_;
  CompareOptions options_;
};

TEST_F(CompareCommand, NamesWhatItCannotReadAndComparesTheRest) {
  options_.runs = {folder_.file("newer"), folder_.file("run"), folder_.file("none")};
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
  options_.format.clear();
  options_.out = folder_.file("out.csv");
  EXPECT_THROW(compare_command(options_), InputError);
  EXPECT_FALSE(fs::exists(options_.out));
}

class PlotCommand : public testing::Test {
 protected:
  PlotCommand() {
    options_.runs = {folder_.file("run")};
    options_.out = folder_.file("figures");
    fs::create_directories(folder_.file("run"));
    std::vector<Json> records;
    for (const int replicas : {4, 8})
      for (const char* label : {"my_ddp", "noloco"}) {
        Json numbers = {{"compute_time_s", 60}, {"exchange_time_s", 30}, {"wait_time_s", 10}};
        numbers.update({{"replicas", replicas}, {"simulated_time_s", 100 * replicas}});
        records.push_back(compared_record(label, 1, {{"replicas", replicas}}, numbers));
      }
    write_summary(folder_.file("run"), "s", records);
  }

  // False where there is no matplotlib.
  bool plot() {
    const std::string error = said_by([&] { EXPECT_EQ(plot_command(options_), 0); });
    EXPECT_SAYS(error, error.empty() ? "" : "apt-get install python3-matplotlib");
    return error.empty();
  }

  const TemporaryFolder folder_;
  PlotOptions options_;
};

TEST_F(PlotCommand, ListsOrDrawsTheNamedOnes) {
  options_.only = {"shares-*-8"};
  options_.formats = {"pdf"};
  if (!plot()) GTEST_SKIP() << "needs python3-matplotlib";
  EXPECT_TRUE(fs::exists(options_.out + "/shares-replicas-8.pdf"));
  EXPECT_FALSE(fs::exists(options_.out + "/shares-replicas-8.svg"));
  EXPECT_FALSE(fs::exists(options_.out + "/shares-replicas-4.pdf"));
  options_.only = {"sharse"};
  EXPECT_EQ(plot_command(options_), kInputWrong);
  options_.list = true;
  options_.out = folder_.file("none");
  options_.only.clear();
  EXPECT_EQ(plot_command(options_), kDone);
  EXPECT_FALSE(fs::exists(options_.out));
}

TEST_F(PlotCommand, WithoutMatplotlibItNamesThePackage) {
  const std::string path = std::getenv("PATH");
  write_text(folder_.file("python3"), "#!/bin/sh\nexit 1\n");  // one that finds no module
  fs::permissions(folder_.file("python3"), fs::perms::owner_all);
  setenv("PATH", folder_.path.c_str(), 1);
  EXPECT_FALSE(plot());
  setenv("PATH", path.c_str(), 1);
  EXPECT_FALSE(fs::exists(options_.out));
}

}  // namespace longhaul::run_commands_test
