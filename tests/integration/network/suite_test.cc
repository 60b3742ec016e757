// A suite of cases in parts. One that is interrupted or killed in the middle goes on, and ends with the bytes
// of one that was not; so do workers that share a folder, each with --only-case, whoever is killed. The
// report and the verdicts of its shards are those of the suite in one run.
#include "tests/integration/network/suite.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "tests/integration/command.h"
#include "tests/support/said.h"

namespace longhaul::suite_test {

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

// All its cases are done, and every file is that of a run that was not disturbed.
void expect_undisturbed(const std::string& scenario, const std::string& run, int cases = kSuiteCases) {
  ASSERT_EQ(run_suite(scenario, run + "-whole"), 0);
  EXPECT_EQ(cases_done(run), cases);
  const CommandResult compared = shell("python3 '" LONGHAUL_SOURCE_DIR "/tests/support/run_contents.py' '" +
                                       run + "' '" + run + "-whole'");
  EXPECT_EQ(compared.status, 0) << compared.err;
}

TEST(Workers, CasesAreListedInTheOrderOfTheSummary) {
  const std::string folder = fresh_folder("listed"), scenario = write_suite(folder);
  const std::vector<Listed> cases = listed_cases(scenario);
  const Json records = summary_of(run_of(scenario))["cases"];
  ASSERT_EQ(cases.size(), records.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(cases[i].name, records[i]["case"]);
    EXPECT_GE(cases[i].seconds, 0.02) << "a program starts";
    const double replicas = records[i]["replicas"];
    EXPECT_NEAR(cases[i].bytes, 100e6 + 4.9e3 * replicas, 1) << "nothing is trained: a program, and replicas";
  }
  std::size_t of_shards = 0;
  for (const char* shard : {"1/3", "2/3", "3/3"})
    of_shards += listed_cases(scenario, {"--shard", shard}).size();
  EXPECT_EQ(of_shards, cases.size());
}

TEST(Workers, OneIsKilledAndTheOtherEndsWithTheBytesOfOneRun) {
  const std::string folder = fresh_folder("workers"), scenario = write_suite(folder), run = folder + "/run";
  std::vector<std::string> arguments = {"run", scenario, "--out", run, "--quiet"};
  for (const Listed& one : listed_cases(scenario))
    arguments.insert(arguments.end(), {"--only-case", one.name});
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
  // Of a process on another machine that renewed its date a moment ago.
  const std::string elsewhere = "node7 another-boot 12 2026-01-31T12:00:00Z\n",
                    claim = run + "/cases/" + cases[1].name + "/.claim";
  write_text(claim, elsewhere);
  const CommandResult whole = longhaul({"run", scenario, "--out", run, "--resume"});
  EXPECT_EQ(whole.status, 1);
  EXPECT_SAYS(whole.err,
              "another process is writing here (cases/" + cases[1].name + ": pid 12 on host node7");
  fs::remove(claim);
  write_text(run + "/.lock", elsewhere);
  const CommandResult worker = longhaul({"run", scenario, "--out", run, "--only-case", cases[1].name});
  EXPECT_EQ(worker.status, 1);
  EXPECT_SAYS(worker.err, "another process is writing here (pid 12 on host node7");
  EXPECT_FALSE(fs::exists(claim));
  // Of a folder that holds another scenario a worker does nothing.
  expect_refused(
      longhaul({"run", scenario, "--out", run, "--set", "seeds=[1, 3]", "--only-case", cases[0].name}),
      {"holds a run of another scenario (it differs in seeds ([1,2] there, [1,3] here))"});
}

// Where the schema lies an editor wants to know; it moves with the checkout.
TEST(Workers, AMovedSchemaIsNoOtherScenario) {
  const std::string folder = fresh_folder("schema"), scenario = write_suite(folder), run = folder + "/run";
  const std::string one = listed_cases(scenario)[0].name;
  Json written = Json::parse(read_text(scenario));
  const auto status_with = [&](const char* key, const char* value) {
    written[key] = value;
    write_text(scenario, written.dump());
    return longhaul({"run", scenario, "--out", run, "--quiet", "--only-case", one}).status;
  };
  ASSERT_EQ(status_with("$schema", "/tmp/one/scenario.schema.json"), 0);
  EXPECT_EQ(status_with("$schema", "/tmp/two/scenario.schema.json"), 0);
  EXPECT_EQ(status_with("description", "another"), 2);
}

TEST(SuiteInterrupt, CtrlCExitsWith130AndItAndAKilledOneResume) {
  for (const auto& [signal, status] : {std::pair(SIGINT, 130), {SIGKILL, 128 + SIGKILL}}) {
    const std::string folder = fresh_folder("suite"), scenario = write_suite(folder), run = folder + "/run";
    const pid_t child = start_command("longhaul", {"run", scenario, "--out", run, "--jobs", "2"});
    EXPECT_TRUE(wait_until([&] { return cases_done(run) >= 3; }));
    kill(child, signal);
    ASSERT_EQ(wait_for(child), status);
    EXPECT_LT(cases_done(run), kSuiteCases) << "it was over before it was disturbed";
    // The lock of what was killed is free at once; children that outlive it by a moment are waited for.
    ASSERT_EQ(run_suite(scenario, run, {"--resume"}), 0);
    expect_undisturbed(scenario, run);
  }
}

// Children of a process, as the kernel lists them.
std::vector<pid_t> children_of(pid_t parent) {
  const std::string number = std::to_string(parent);
  std::ifstream in("/proc/" + number + "/task/" + number + "/children");
  return {std::istream_iterator<pid_t>(in), std::istream_iterator<pid_t>()};
}

// Two cases behind FIFOs that overflow, a second and more each: ten outer steps of a ring of four, 26 million
// segments of which the seed decides which are lost.
std::string write_linux_suite(const std::string& folder) {
  write_text(folder + "/linux.json", R"({
    "name": "linux", "seeds": [1, 2], "replicas": 4, "methods": [{"name": "diloco", "inner_steps": 2}],
    "workload": {"parameters": 50000000, "wire": "bf16", "steps": 20, "step_time": {"constant": "1s"}},
    "network": {"fidelity": "linux", "topology": {"star": {"up": "3Gbps", "down": "1Gbps", "rtt": "20ms"}},
                "tcp": {"queue": "fifo", "queue_size": 0.5, "connections": 2}}})");
  return folder + "/linux.json";
}

// Nothing of the killed replay is taken over: it begins anew, from the same seed.
TEST(SuiteInterrupt, OneKilledInTheMiddleOfAReplayInLinuxResumes) {
  const std::string folder = fresh_folder("linux"), scenario = write_linux_suite(folder),
                    run = folder + "/run";
  const pid_t child = start_command("longhaul", {"run", scenario, "--out", run, "--jobs", "1"});
  fs::path killed;  // the folder of the second case, once its replay runs
  EXPECT_TRUE(wait_until([&] {
    if (cases_done(run) < 1) return false;
    for (const auto& entry : fs::directory_iterator(run + "/cases"))
      if (fs::exists(entry.path() / "transfers.csv") && !fs::exists(entry.path() / "done"))
        killed = entry.path();
    return !killed.empty();
  }));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const std::vector<pid_t> replays = children_of(child);
  kill(child, SIGKILL);
  for (const pid_t replay : replays) kill(replay, SIGKILL);
  ASSERT_EQ(wait_for(child), 128 + SIGKILL);
  ASSERT_EQ(cases_done(run), 1) << "it was over before it was killed";
  ASSERT_FALSE(fs::exists(killed / "replay.json"));
  ASSERT_EQ(run_suite(scenario, run, {"--resume"}), 0);
  expect_undisturbed(scenario, run, 2);
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

// report.html in two pieces: what it is made of, and the data that it shows.
struct Page {
  std::string around;
  Json data;
};

class Shards : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = fresh_folder("shards");
    const std::string scenario = write_suite(folder_);
    ASSERT_EQ(run_suite(scenario, folder_ + "/whole"), 0);
    for (const char* shard : {"1", "2", "3"})
      ASSERT_EQ(run_suite(scenario, folder_ + "/" + shard, {"--shard", std::string(shard) + "/3"}), 0);
  }

  // What a command says of these runs.
  static std::string said(std::vector<std::string> command, const std::vector<std::string>& names) {
    for (const std::string& name : names) command.push_back(folder_ + "/" + name);
    const CommandResult result = longhaul(command);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  }

  // Less what tells runs apart even if they hold the same: where they lie, when and how they ran.
  static Page report(const std::vector<std::string>& names) {
    const std::string file = folder_ + "/" + names.back() + ".html",
                      tag = "<script id=\"data\" type=\"application/json\">";
    said({"report", "-o", file}, names);
    const std::string html = read_text(file);
    const std::size_t begin = html.find(tag) + tag.size(), end = html.find("</script>", begin);
    Json data = Json::parse(html.substr(begin, end - begin));
    for (Json& run : data["runs"])
      for (const char* own : {"folder", "manifest"}) run.erase(own);
    return {html.substr(0, begin) + html.substr(end), data};
  }

  inline static std::string folder_;
};

TEST_F(Shards, TheirReportAndVerdictsAreThoseOfTheUnsplitRun) {
  const Page whole = report({"whole"}), shards = report({"3", "1", "2"});
  EXPECT_EQ(shards.around, whole.around);
  EXPECT_EQ(whole.data["cases"].size(), static_cast<std::size_t>(kSuiteCases));
  EXPECT_EQ(shards.data.dump(1), whole.data.dump(1));
  const std::string verdicts = said({"claims"}, {"whole"});
  EXPECT_SAYS(verdicts, "24 of 24 cases done");
  EXPECT_EQ(said({"claims"}, {"2", "3", "1"}), verdicts);
}

// A run that keeps totals alone says the same of its cases and claims.
TEST_F(Shards, TotalsAloneSayTheSame) {
  ASSERT_EQ(run_suite(folder_ + "/suite.json", folder_ + "/totals", {"--set", "tables=totals"}), 0);
  EXPECT_EQ(said({"claims"}, {"totals"}), said({"claims"}, {"whole"}));
  EXPECT_EQ(read_text(folder_ + "/totals/summary.json"), read_text(folder_ + "/whole/summary.json"));
  for (const auto& entry : fs::directory_iterator(folder_ + "/totals/cases"))
    EXPECT_FALSE(fs::exists(entry.path() / "exchanges.csv")) << entry.path();
  EXPECT_EQ(report({"totals"}).data["cases"].size(), static_cast<std::size_t>(kSuiteCases));
}

TEST_F(Shards, AMissingOneIsNamedAndLeavesClaimsUndecided) {
  const Page page = report({"3", "1"});
  const Json& run = page.data["runs"].at(0);
  EXPECT_EQ(page.data["runs"].size(), 1u);
  EXPECT_SAYS(run["notes"].dump(), "8 of 24 cases are missing: this report was not given shard 2/3");
  ASSERT_FALSE(run["claims"].empty());
  for (const Json& claim : run["claims"]) {
    EXPECT_EQ(claim["verdict"], "undecided");
    EXPECT_SAYS(claim["grounds"].dump(), "8 cases of the scenario are in other shards");
  }
  EXPECT_SAYS(said({"claims"}, {"3", "1"}),
              "16 of 24 cases done. Not given: 2/3; what is said below is of the "
              "cases that are there, and no verdict on the claim.");
  EXPECT_SAYS(said({"compare", "--format", "json"}, {"3", "1"}),
              "\"Not given: 2/3; what is said below is of the cases that are there.\"");
  const CommandResult figures = longhaul({"plot", "--list", folder_ + "/3", folder_ + "/1"});
  EXPECT_EQ(figures.err, "warning: Not given: 2/3; what is said below is of the cases that are there.\n");
}

// As a shell takes it, with all that makes the scenario what it is.
TEST(SuiteInterrupt, TheCommandItNamesContinuesIt) {
  const std::string folder = fresh_folder("named"), scenario = write_suite(folder), run = folder + "/a run";
  const CommandResult cut =
      shell("$B/longhaul run '" + scenario + "' --set 'seeds=[1, 3]' --out '" + run + "' & while [ $(ls '" +
            run + "'/cases/*/done | wc -l) -lt 3 ]; do sleep 0.02; " + "done; kill -TERM $!; wait $!");
  ASSERT_EQ(cut.status, 130) << cut.err;
  const std::string words = "interrupted; continue with: ";
  const std::size_t begin = cut.out.find(words);
  ASSERT_NE(begin, std::string::npos) << cut.out;
  const CommandResult again =
      shell(cut.out.substr(begin + words.size(), cut.out.find('\n', begin) - begin - words.size()));
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(cases_done(run), kSuiteCases);
}

// What made the cases stays what the report says of them; and there is no report of nothing.
TEST(SuiteReport, AReportAloneKeepsTheCommandAndTheTimes) {
  const std::string folder = fresh_folder("alone"), scenario = write_suite(folder), run = folder + "/run";
  const std::vector<std::string> alone = {"run", scenario, "--out", run, "--only", "report", "--quiet"};
  expect_refused(longhaul(alone), {"--only: found report, but " + run + " holds no run"});
  EXPECT_FALSE(fs::exists(run));
  ASSERT_EQ(run_suite(scenario, run), 0);
  const std::string before = read_text(run + "/manifest.json");
  fs::remove(run + "/report.html");
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--resume"}}) {
    ASSERT_EQ(longhaul(alone, more).status, 0);
    EXPECT_EQ(read_text(run + "/manifest.json"), before);
  }
  EXPECT_SAYS(read_text(run + "/report.html"), "--jobs 2 --quiet");
  // Of a run that was killed the report says that it is not whole.
  Json manifest = Json::parse(before);
  manifest["status"] = "running";
  write_text(run + "/manifest.json", manifest.dump());
  fs::remove(run + "/cases/" + listed_cases(scenario)[0].name + "/done");
  ASSERT_EQ(longhaul(alone).status, 0);
  manifest["status"] = "interrupted";
  EXPECT_EQ(Json::parse(read_text(run + "/manifest.json")), manifest);
}

// A whole run of the scenario is no shard of it.
TEST_F(Shards, OnlyDifferentShardsBelongTogether) {
  EXPECT_EQ(report({"whole", "1"}).data["runs"].size(), 2u);
  EXPECT_EQ(report({"whole", "1", "2", "3"}).data["runs"].size(), 2u);
}

// The cases of shard 1 would be in no table of a run that goes on as shard 2.
TEST_F(Shards, AFolderOfOneShardIsNotContinuedAsAnother) {
  const std::string scenario = folder_ + "/suite.json", run = folder_ + "/copy";
  fs::copy(folder_ + "/1", run, fs::copy_options::recursive);
  const std::string before = read_text(run + "/summary.json");
  expect_refused(longhaul({"run", scenario, "--out", run, "--resume", "--shard", "2/3"}),
                 {"--shard: found 2/3, but 8 cases in ", " are of other shards: they would be in no table",
                  "the shard that was run there, or no --shard"});
  EXPECT_EQ(read_text(run + "/summary.json"), before);
  // All of them is a union: what shard 1 did is kept, and the tables are those of the whole run.
  EXPECT_EQ(run_suite(scenario, run, {"--resume"}), 0);
  for (const char* table : {"summary.json", "exchanges.csv", "links.csv"})
    EXPECT_EQ(read_text(run + "/" + table), read_text(folder_ + "/whole/" + table)) << table;
}

TEST_F(Shards, OverwritingRemovesTheRunAndNothingElse) {
  const std::string scenario = folder_ + "/suite.json", run = folder_ + "/again";
  ASSERT_EQ(run_suite(scenario, run, {"--shard", "1/3"}), 0);
  write_text(run + "/notes.txt", "mine");
  expect_refused(longhaul({"run", scenario, "--out", run, "--set", "replicas=8"}),
                 {"--overwrite to remove it"});
  EXPECT_EQ(run_suite(scenario, run, {"--overwrite", "--shard", "2/3"}), 0);
  EXPECT_EQ(read_text(run + "/summary.json"), read_text(folder_ + "/2/summary.json"));
  std::size_t cases = 0;
  for (const auto& entry : fs::directory_iterator(run + "/cases")) cases += entry.is_directory();
  EXPECT_EQ(cases, summary_of(run)["cases"].size());
  EXPECT_EQ(read_text(run + "/notes.txt"), "mine");
  const std::string foreign = folder_ + "/foreign";
  write_text(foreign + "/thesis.tex", "mine");
  EXPECT_EQ(run_suite(scenario, foreign, {"--overwrite"}), 2) << "no run: nothing is removed";
  EXPECT_EQ(read_text(foreign + "/thesis.tex"), "mine");
}

}  // namespace longhaul::suite_test
