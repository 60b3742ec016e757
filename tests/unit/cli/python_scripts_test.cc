// What a plan's measurements are read with: Python, which a missing file does not reach.
#include "cli/python_scripts.h"

#include <gtest/gtest.h>

#include "planner/plan_request.h"
#include "tests/support/files.h"
#include "tests/support/said.h"

namespace longhaul::python_scripts_test {

TEST(MeasuredSites, SayWhichFileDoesNotExist) {
  const TemporaryFolder folder;
  write_text(folder.file("a-b.json"), "{}");
  PlanRequest plan;
  plan.measurements = {folder.file("a-b.json"), folder.file("b-c.json")};
  std::vector<std::string> warnings;
  EXPECT_SAYS(said_by([&] { measured_sites(plan, warnings); }),
              "measurements: there is no file " + folder.file("b-c.json") + "; allowed: what iperf3 --json");
}

}  // namespace longhaul::python_scripts_test
