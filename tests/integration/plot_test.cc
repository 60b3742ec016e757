// longhaul plot draws a run that was trained: its curves. Runs without training: network/plot_test.cc.
#include <gtest/gtest.h>

#include "tests/integration/command.h"

namespace longhaul {
namespace {

TEST(PlotOfTrainedRun, HasTheCurves) {
  const std::string run = fresh_folder("plot") + "/run";
  const CommandResult ran = longhaul({"run", scenario_file("small.json"), "--out", run, "--quiet"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const CommandResult plotted = longhaul({"plot", run, "--format", "svg"});
  if (plotted.err.find("matplotlib was not found") != std::string::npos)
    GTEST_SKIP() << "needs python3-matplotlib";
  ASSERT_EQ(plotted.status, 0) << plotted.err;
  for (const char* name : {"loss-time", "loss-steps", "loss-bytes", "sync-time", "shares"})
    EXPECT_NE(read_text(run + "/figures/" + name + ".svg").find("</svg>"), std::string::npos) << name;
}

}  // namespace
}  // namespace longhaul
