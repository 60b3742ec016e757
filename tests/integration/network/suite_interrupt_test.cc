// A suite of cases that is interrupted or killed in the middle goes on, and ends with the bytes of one that
// was not.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "tests/integration/command.h"
#include "tests/integration/network/run_contents.h"
#include "tests/integration/network/suite.h"

namespace longhaul::suite_interrupt_test {

namespace fs = std::filesystem;

void expect_resumed_as_undisturbed(int signal, int expected_status) {
  const std::string folder = fresh_folder("suite"), scenario = write_suite(folder);
  const std::string run = folder + "/run", whole = folder + "/whole";
  const pid_t child = start_command("longhaul", {"run", scenario, "--out", run, "--jobs", "2"});
  EXPECT_TRUE(wait_until([&] { return cases_done(run) >= 3; }));
  kill(child, signal);
  ASSERT_EQ(wait_for(child), expected_status);
  EXPECT_LT(cases_done(run), kSuiteCases) << "it was over before it was disturbed";
  // The lock of what was killed is free at once; children that outlive it by a moment are waited for.
  ASSERT_EQ(run_suite(scenario, run, {"--resume"}), 0);
  ASSERT_EQ(run_suite(scenario, whole), 0);
  EXPECT_EQ(cases_done(run), kSuiteCases);
  EXPECT_EQ(differences_of(run, whole), "");
}

TEST(SuiteInterrupt, CtrlCExitsWith130AndResumes) {
  expect_resumed_as_undisturbed(SIGINT, 130);
}

TEST(SuiteInterrupt, AKilledOneResumesToo) {
  expect_resumed_as_undisturbed(SIGKILL, 128 + SIGKILL);
}

// Killed before scenario.json had its name: what it left is no reason to refuse the folder.
TEST(SuiteInterrupt, OneThatWasKilledBeforeItHadAScenarioResumes) {
  const std::string folder = fresh_folder("begun"), scenario = write_suite(folder);
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--resume"}}) {
    const std::string run = folder + "/run" + std::to_string(more.size());
    write_text(run + "/.lock", "here " + read_text("/proc/sys/kernel/random/boot_id"));
    write_text(run + "/scenario.json.part", "{\"name\": ");
    EXPECT_EQ(run_suite(scenario, run, more), 0);
    EXPECT_EQ(cases_done(run), kSuiteCases);
    EXPECT_FALSE(fs::exists(run + "/scenario.json.part"));
  }
}

TEST(SuiteInterrupt, AFolderWithOtherFilesIsRefused) {
  const std::string folder = fresh_folder("taken"), scenario = write_suite(folder);
  write_text(folder + "/run/.lock", "");
  write_text(folder + "/run/notes.txt", "mine");
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--resume"}})
    EXPECT_EQ(run_suite(scenario, folder + "/run", more), 2);
  EXPECT_FALSE(fs::exists(folder + "/run/scenario.json"));
}

}  // namespace longhaul::suite_interrupt_test
