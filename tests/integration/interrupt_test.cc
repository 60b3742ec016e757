// Ctrl-C, and death of the parent: children stop, the run can be continued, and ends as if undisturbed.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/integration/kills.h"

namespace longhaul::interrupt_test {

namespace fs = std::filesystem;

std::string long_scenario() {
  Json scenario = small_scenario();
  scenario["train"]["steps"] = 400;
  scenario["methods"] = {{{"name", "noloco"}, {"inner_steps", 5}}, {{"name", "independent"}}};
  return written(scenario);
}

void wait_until_training(const std::string& run) {
  const auto trains = [&] {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(run + "/train", ignored))
      if (!read_text(entry.path().string() + "/metrics.csv").empty()) return true;
    return false;
  };
  ASSERT_TRUE(wait_until(trains)) << "no training began";
}

// Free again once nobody holds the lock; a child that outlives its parent would still hold it.
bool can_resume(const std::string& scenario, const std::string& run) {
  for (int i = 0; i < 100; ++i) {
    if (longhaul({"run", scenario, "--out", run, "--resume", "--quiet"}).status == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

// Trained once for all tests.
const std::string& undisturbed() {
  static const std::string whole = run_of(long_scenario());
  return whole;
}

void expect_resumed_as_undisturbed(int signal, int expected_status, const std::string& ranks = "1") {
  const std::string scenario = long_scenario(), run = fresh_folder("run"), whole = undisturbed();
  const pid_t child = start_command("longhaul", {"run", scenario, "--out", run, "--ranks", ranks});
  wait_until_training(run);
  kill(child, signal);
  EXPECT_EQ(wait_for(child), expected_status);
  ASSERT_TRUE(can_resume(scenario, run));
  expect_same_run(run, whole);
}

TEST(Interrupt, CtrlCExitsWith130AndResumes) {
  expect_resumed_as_undisturbed(SIGINT, 130);
}

TEST(Interrupt, AKilledParentTakesItsChildrenAlongAndResumes) {
  expect_resumed_as_undisturbed(SIGKILL, 128 + SIGKILL);
}

// mpirun stands between; the rest is trained, and the reference too, by one process.
TEST(Interrupt, OfSeveralRanksIsTheSame) {
  expect_resumed_as_undisturbed(SIGINT, 130, "2");
  expect_resumed_as_undisturbed(SIGKILL, 128 + SIGKILL, "2");
}

}  // namespace longhaul::interrupt_test
