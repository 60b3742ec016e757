// longhaul compare on run directories of which some cannot be used; longhaul plot draws with matplotlib where
// there is one.
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
    fs::create_directories(folder_ + "/run");
    write_summary(folder_ + "/run", "s", losses_of({{"a", {1, 2}}, {"b", {1, 2}}}));
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
  options_.format.clear();
  options_.out = folder_ + "/out.csv";
  EXPECT_THROW(compare_command(options_), InputError);
  EXPECT_FALSE(fs::exists(options_.out));
}

class PlotCommand : public testing::Test {
 protected:
  PlotCommand() {
    options_.runs = {folder_ + "/run"};
    options_.out = folder_ + "/figures";
    fs::create_directories(folder_ + "/run");
    std::vector<Json> records;
    for (const int replicas : {4, 8})
      for (const char* label : {"my_ddp", "noloco"}) {
        Json numbers = {{"compute_time_s", 60}, {"exchange_time_s", 30}, {"wait_time_s", 10}};
        numbers.update({{"replicas", replicas}, {"simulated_time_s", 100 * replicas}});
        records.push_back(compared_record(label, 1, {{"replicas", replicas}}, numbers));
      }
    write_summary(folder_ + "/run", "s", records);
  }

  // False where there is no matplotlib.
  bool plot() {
    const std::string error = said_by([&] { EXPECT_EQ(plot_command(options_), 0); });
    EXPECT_SAYS(error, error.empty() ? "" : "apt-get install python3-matplotlib");
    return error.empty();
  }

  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path;
  PlotOptions options_;
};

const char* const kFigures[] = {"shares-replicas-4", "shares-replicas-8", "sweep-simulated_time_s-replicas"};

// Every font of every figure is embedded: "yes" in the column emb.
TEST_F(PlotCommand, LeavesFiguresScriptsAndData) {
  options_.formats = {"svg", "pdf", "png"};
  if (!plot()) GTEST_SKIP() << "needs python3-matplotlib";
  for (const std::string name : kFigures) {
    for (const char* ending : {".py", ".json", ".svg", ".pdf", ".png"}) {
      const std::string file = options_.out + "/" + name + ending;
      ASSERT_TRUE(fs::exists(file)) << file;
      EXPECT_GT(fs::file_size(file), 100u) << file;
    }
    std::istringstream table(output_of("pdffonts '" + options_.out + "/" + name + ".pdf' 2>&1"));
    std::string line;
    std::getline(table, line);
    const std::size_t column = line.find("emb");
    if (column == std::string::npos) continue;  // without poppler-utils
    std::getline(table, line);
    int fonts = 0;
    for (; std::getline(table, line); ++fonts) EXPECT_EQ(line.substr(column, 3), "yes") << line;
    EXPECT_GT(fonts, 0) << name;
  }
}

TEST_F(PlotCommand, ListsOrDrawsTheNamedOnes) {
  options_.only = {"shares-*-8"};
  if (!plot()) GTEST_SKIP() << "needs python3-matplotlib";
  EXPECT_TRUE(fs::exists(options_.out + "/shares-replicas-8.svg"));
  EXPECT_FALSE(fs::exists(options_.out + "/shares-replicas-4.svg"));
  options_.only = {"sharse"};
  EXPECT_EQ(plot_command(options_), kInputWrong);
  options_.list = true;
  options_.out = folder_ + "/none";
  options_.only.clear();
  EXPECT_EQ(plot_command(options_), kDone);
  EXPECT_FALSE(fs::exists(options_.out));
}

TEST_F(PlotCommand, WithoutMatplotlibItNamesThePackage) {
  const std::string path = std::getenv("PATH");
  write_text(folder_ + "/python3", "#!/bin/sh\nexit 1\n");  // one that finds no module
  fs::permissions(folder_ + "/python3", fs::perms::owner_all);
  setenv("PATH", folder_.c_str(), 1);
  EXPECT_FALSE(plot());
  setenv("PATH", path.c_str(), 1);
  EXPECT_FALSE(fs::exists(options_.out));
}

}  // namespace longhaul::run_commands_test
