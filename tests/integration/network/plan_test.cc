// `longhaul plan` and signals.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>

#include "tests/integration/command.h"

namespace longhaul::plan_test {

// Thousand nodes at one site: their ranks are ordered and their bytes counted for minutes before the first
// replay. A signal ends that, and nothing is left.
TEST(PlanCommand, EndsAtASignalWhileCandidatesAreCounted) {
  Json plan = Json::parse(read_text(scenario_file("plans/sites.json")));
  plan["sites"][0]["nodes"] = 1000;
  plan.erase("$schema");
  const std::string file = written(plan, "plan.json");
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string out = fresh_folder("plan") + "/out";
    const pid_t child = start_command("longhaul", {"plan", file, "-o", out, "--quiet"});
    ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(std::filesystem::path(out) / "work" / ".lock"); }));
    kill(child, signal);
    int status = 0;
    const bool has_ended = wait_until([&] { return waitpid(child, &status, WNOHANG) == child; });
    if (!has_ended) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
    }
    EXPECT_TRUE(has_ended);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    EXPECT_FALSE(std::filesystem::exists(out));
  }
}

}  // namespace longhaul::plan_test
