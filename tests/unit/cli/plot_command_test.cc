// longhaul plot draws with the real gnuplot where there is one.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analysis/runs/summary.h"
#include "cli/commands.h"
#include "core/base/errors.h"
#include "tests/support/files.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

class PlotCommand : public testing::Test {
 protected:
  PlotCommand() {
    options_.runs = {folder_ + "/run"};
    options_.out = folder_ + "/figures";
    fs::create_directories(folder_ + "/run");
    std::vector<Json> records;
    for (const int replicas : {4, 8})
      for (const char* label : {"my_ddp", "noloco"})
        records.push_back({{"case", std::string(label) + std::to_string(replicas)},
                           {"status", "done"},
                           {"method", label},
                           {"label", label},
                           {"seed", 1},
                           {"swept", {{"replicas", replicas}}},
                           {"simulated_time_s", 100 * replicas},
                           {"compute_time_s", 60},
                           {"exchange_time_s", 30},
                           {"wait_time_s", 10}});
    write_summary(folder_ + "/run", "s", records);
  }

  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path;
  PlotOptions options_;
};

const char* const kFigures[] = {"shares-replicas-4", "shares-replicas-8", "sweep-simulated_time_s-replicas"};

TEST_F(PlotCommand, LeavesFiguresScriptsAndData) {
  if (found_on_path("gnuplot").empty()) GTEST_SKIP() << "needs gnuplot-nox";
  ASSERT_EQ(plot_command(options_), 0);
  for (const std::string name : kFigures)
    for (const char* ending : {".gp", ".dat", ".svg", ".pdf"}) {
      const std::string file = options_.out + "/" + name + ending;
      ASSERT_TRUE(fs::exists(file)) << file;
      EXPECT_GT(fs::file_size(file), 100u) << file;
    }
}

// Every font of every figure: "yes" in the column emb.
TEST_F(PlotCommand, PdfsHaveTheirFontsEmbedded) {
  if (found_on_path("gnuplot").empty() || found_on_path("pdffonts").empty())
    GTEST_SKIP() << "needs gnuplot-nox and poppler-utils";
  ASSERT_EQ(plot_command(options_), 0);
  for (const std::string name : kFigures) {
    std::istringstream table(output_of("pdffonts '" + options_.out + "/" + name + ".pdf'"));
    std::string line;
    std::getline(table, line);
    const std::size_t column = line.find("emb");
    ASSERT_NE(column, std::string::npos);
    std::getline(table, line);
    int fonts = 0;
    for (; std::getline(table, line); ++fonts) EXPECT_EQ(line.substr(column, 3), "yes") << line;
    EXPECT_GT(fonts, 0) << name;
  }
}

// The folder moved elsewhere, the script run by itself: the same picture.
TEST_F(PlotCommand, AScriptRunsAloneInItsFolder) {
  const std::string gnuplot = found_on_path("gnuplot");
  if (gnuplot.empty()) GTEST_SKIP() << "needs gnuplot-nox";
  ASSERT_EQ(plot_command(options_), 0);
  const auto picture = [&](const std::string& folder) {
    std::ifstream in(folder + "/shares-replicas-4.svg");
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string first = picture(options_.out), moved = folder_ + "/moved";
  fs::rename(options_.out, moved);
  fs::remove(moved + "/shares-replicas-4.svg");
  EXPECT_EQ(output_of("cd '" + moved + "' && '" + gnuplot + "' shares-replicas-4.gp 2>&1"), "");
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(picture(moved), first);
}

TEST_F(PlotCommand, WithoutGnuplotItNamesThePackage) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", folder_.c_str(), 1);
  std::string said;
  try {
    plot_command(options_);
  } catch (const InputError& error) {
    said = error.what();
  }
  setenv("PATH", path.c_str(), 1);
  EXPECT_NE(said.find("apt-get install gnuplot-nox"), std::string::npos) << said;
  EXPECT_FALSE(fs::exists(options_.out));
}

}  // namespace
}  // namespace longhaul
