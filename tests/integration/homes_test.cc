// `list networks`, and a network of homes from end to end.
#include <gtest/gtest.h>

#include "core/base/options.h"
#include "tests/integration/command.h"

namespace longhaul::homes_test {

TEST(Homes, TheScenarioRuns) {
  const std::string out = fresh_folder("homes");
  const CommandResult result = longhaul({"run", scenario_file("homes.json"), "--out", out, "--quiet"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json summary = Json::parse(read_text(out + "/summary.json"));
  ASSERT_FALSE(summary["cases"].empty());
  for (const Json& entry : summary["cases"]) {
    EXPECT_EQ(entry["status"], "done");
    // Replica 3 takes twice as long: 60 steps of 1 s in the mean of 16, and 120 for it.
    EXPECT_NEAR(entry["compute_time_s"].get<double>(), 60. * 17 / 16, 4);
  }
}

}  // namespace longhaul::homes_test
