// A suite of cases that is interrupted or killed in the middle goes on, and ends with the bytes of one that
// was not; so do workers that share a folder, each with --only-case, whoever is killed.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <sstream>

#include "tests/integration/command.h"
#include "tests/integration/network/run_contents.h"
#include "tests/integration/network/suite.h"
#include "tests/support/said.h"

namespace longhaul::workers_test {

namespace fs = std::filesystem;

struct Listed {
  std::string name;
  double seconds = 0, bytes = 0;
};

std::vector<Listed> listed_cases(const std::string& scenario, const std::vector<std::string>& more = {}) {
  const CommandResult result = longhaul({"run", scenario, "--list-cases"}, more);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  std::istringstream lines(result.out);
  std::vector<Listed> cases;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(std::count(line.begin(), line.end(), '\t'), 2) << line;
    EXPECT_EQ(line.find_first_of(" '\"$`\\;|&*?"), std::string::npos) << "a word for any shell: " << line;
    std::istringstream cells(line);
    cells >> cases.emplace_back().name >> cases.back().seconds >> cases.back().bytes;
    EXPECT_TRUE(cells) << line;
  }
  return cases;
}

std::vector<std::string> worker_arguments(const std::string& scenario, const std::string& run) {
  std::vector<std::string> arguments = {"run", scenario, "--out", run, "--quiet"};
  for (const Listed& one : listed_cases(scenario))
    arguments.insert(arguments.end(), {"--only-case", one.name});
  return arguments;
}

// All its cases are done, and every file is that of a run that was not disturbed.
void expect_undisturbed(const std::string& scenario, const std::string& run) {
  ASSERT_EQ(run_suite(scenario, run + "-whole"), 0);
  EXPECT_EQ(cases_done(run), kSuiteCases);
  EXPECT_EQ(differences_of(run, run + "-whole"), "");
}

// Of a process on another machine that renewed its date a moment ago.
constexpr char kElsewhere[] = "node7 another-boot 12 2026-01-31T12:00:00Z\n";

TEST(Workers, CasesAreListedInTheOrderOfTheSummary) {
  const std::string folder = fresh_folder("listed"), scenario = write_suite(folder);
  const std::vector<Listed> cases = listed_cases(scenario);
  const Json records = summary_of(run_of(scenario))["cases"];
  ASSERT_EQ(cases.size(), records.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(cases[i].name, records[i]["case"]);
    EXPECT_GE(cases[i].seconds, 0.02) << "a program starts";
    EXPECT_EQ(cases[i].bytes, 100e6) << "nothing is trained";
  }
  std::size_t of_shards = 0;
  for (const char* shard : {"1/3", "2/3", "3/3"})
    of_shards += listed_cases(scenario, {"--shard", shard}).size();
  EXPECT_EQ(of_shards, cases.size());
}

TEST(Workers, OneIsKilledAndTheOtherEndsWithTheBytesOfOneRun) {
  const std::string folder = fresh_folder("workers"), scenario = write_suite(folder), run = folder + "/run";
  const std::vector<std::string> arguments = worker_arguments(scenario, run);
  const pid_t killed = start_command("longhaul", arguments), other = start_command("longhaul", arguments);
  EXPECT_TRUE(wait_until([&] { return cases_done(run) >= 3; }));
  kill(killed, SIGKILL);
  ASSERT_EQ(wait_for(killed), 128 + SIGKILL) << "it was over before it was killed";
  EXPECT_LT(cases_done(run), kSuiteCases);
  EXPECT_FALSE(fs::exists(run + "/summary.json")) << "workers make no tables";
  ASSERT_EQ(wait_for(other), 0);
  EXPECT_EQ(cases_done(run), kSuiteCases);
  ASSERT_EQ(run_suite(scenario, run, {"--resume"}), 0);
  expect_undisturbed(scenario, run);
}

TEST(Workers, AnUnknownCaseIsNamedWithTheCommandThatListsThem) {
  const std::string folder = fresh_folder("unknown"), scenario = write_suite(folder);
  const std::string first = listed_cases(scenario)[0].name;
  expect_refused(longhaul({"run", scenario, "--out", folder + "/run", "--only-case", first + "0"}),
                 {"--only-case: found \"" + first + "0\"; allowed: " + first, "and 19 more",
                  "longhaul run " + scenario + " --list-cases"});
  EXPECT_FALSE(fs::exists(folder + "/run"));
}

TEST(Workers, AndAWholeRunRefuseEachOther) {
  const std::string folder = fresh_folder("refused"), scenario = write_suite(folder), run = folder + "/run";
  const std::vector<Listed> cases = listed_cases(scenario);
  ASSERT_EQ(longhaul({"run", scenario, "--out", run, "--quiet", "--only-case", cases[0].name}).status, 0);
  const std::string claim = run + "/cases/" + cases[1].name + "/.claim";
  write_text(claim, kElsewhere);
  const CommandResult whole = longhaul({"run", scenario, "--out", run, "--resume"});
  EXPECT_EQ(whole.status, 1);
  EXPECT_SAYS(whole.err,
              "another process is writing here (cases/" + cases[1].name + ": pid 12 on host node7");
  fs::remove(claim);
  write_text(run + "/.lock", kElsewhere);
  const CommandResult worker = longhaul({"run", scenario, "--out", run, "--only-case", cases[1].name});
  EXPECT_EQ(worker.status, 1);
  EXPECT_SAYS(worker.err, "another process is writing here (pid 12 on host node7");
  EXPECT_FALSE(fs::exists(claim));
  // Of a folder that holds another scenario a worker does nothing.
  EXPECT_EQ(
      longhaul({"run", scenario, "--out", run, "--set", "seeds=[1, 3]", "--only-case", cases[0].name}).status,
      2);
}

void expect_resumed_as_undisturbed(int signal, int expected_status) {
  const std::string folder = fresh_folder("suite"), scenario = write_suite(folder), run = folder + "/run";
  const pid_t child = start_command("longhaul", {"run", scenario, "--out", run, "--jobs", "2"});
  EXPECT_TRUE(wait_until([&] { return cases_done(run) >= 3; }));
  kill(child, signal);
  ASSERT_EQ(wait_for(child), expected_status);
  EXPECT_LT(cases_done(run), kSuiteCases) << "it was over before it was disturbed";
  // The lock of what was killed is free at once; children that outlive it by a moment are waited for.
  ASSERT_EQ(run_suite(scenario, run, {"--resume"}), 0);
  expect_undisturbed(scenario, run);
}

TEST(SuiteInterrupt, CtrlCExitsWith130AndResumes) {
  expect_resumed_as_undisturbed(SIGINT, 130);
}

TEST(SuiteInterrupt, AKilledOneResumesToo) {
  expect_resumed_as_undisturbed(SIGKILL, 128 + SIGKILL);
}

// Killed before scenario.json had its name: what it left is no reason to refuse the folder; files of others
// are one.
TEST(SuiteInterrupt, OneThatWasKilledBeforeItHadAScenarioResumes) {
  const std::string folder = fresh_folder("begun"), scenario = write_suite(folder);
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--resume"}}) {
    const std::string run = folder + "/run" + std::to_string(more.size());
    write_text(run + "/.lock", "here " + read_text("/proc/sys/kernel/random/boot_id"));
    write_text(run + "/scenario.json.part", "{\"name\": ");
    EXPECT_EQ(run_suite(scenario, run, more), 0);
    EXPECT_EQ(cases_done(run), kSuiteCases);
    EXPECT_FALSE(fs::exists(run + "/scenario.json.part"));
    const std::string taken = folder + "/taken";
    write_text(taken + "/.lock", "");
    write_text(taken + "/notes.txt", "mine");
    EXPECT_EQ(run_suite(scenario, taken, more), 2);
    EXPECT_FALSE(fs::exists(taken + "/scenario.json"));
  }
}

}  // namespace longhaul::workers_test
