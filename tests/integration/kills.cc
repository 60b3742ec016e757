#include "tests/integration/kills.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

namespace longhaul {

namespace fs = std::filesystem;

const WholeTraining& whole_training(const Json& method, int steps, int checkpoint_every) {
  static std::map<std::string, WholeTraining> all;
  WholeTraining& whole = all[Json({method, steps, checkpoint_every}).dump()];
  if (!whole.folder.empty()) return whole;
  Json scenario = small_scenario({{"methods", Json::array({method})},
                                  {"train", {{"steps", steps}, {"checkpoint_every", checkpoint_every}}}});
  if (method["name"] == "hierarchical")
    scenario["network"]["topology"] =
        Json::parse(R"({"regions": {"matrix": "aws-2022", "replicas": {"oregon": 2, "london": 2}}})");
  std::vector<std::string> more;
  const bool do_times_decide = method.contains("quorum");  // then the replay comes first
  if (!do_times_decide) more = {"--only", "train"};
  const auto start = std::chrono::steady_clock::now();
  const std::string run = run_of(written(scenario), more);
  whole.folder = fs::directory_iterator(run + "/train")->path().string();
  if (do_times_decide)
    whole.journal = fs::directory_iterator(run + "/cases")->path().string() + "/journal.jsonl";
  whole.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return whole;
}

int expect_whole_after_kills(const WholeTraining& whole, int kills, std::mt19937& random) {
  std::uniform_real_distribution<double> moment(0, whole.seconds);
  int ended = 0;
  std::string out = fresh_folder("killed");
  bool resume = false;
  for (int killed = 0; killed < kills;) {
    const pid_t child = start_training(whole, out, resume);
    std::this_thread::sleep_for(std::chrono::duration<double>(moment(random)));
    kill(child, SIGKILL);
    const int status = wait_for(child);
    EXPECT_TRUE(status == 0 || status == 128 + SIGKILL) << status;
    resume = status != 0;
    killed += resume;
    if (resume) continue;
    expect_same_training(out, whole);
    ++ended;
    out = fresh_folder("killed");
  }
  EXPECT_EQ(wait_for(start_training(whole, out, resume)), 0);
  expect_same_training(out, whole);
  return ended + 1;
}

CommandResult run_through_kills(std::vector<std::string> arguments, std::pair<int, int> milliseconds,
                                std::mt19937& random) {
  std::uniform_int_distribution<int> moment(milliseconds.first, milliseconds.second);
  for (int kills = 0; kills < 3; ++kills) {
    const pid_t child = start_command("longhaul", arguments);
    std::this_thread::sleep_for(std::chrono::milliseconds(moment(random)));
    kill(child, SIGKILL);
    wait_for(child);
    if (kills == 0) arguments.push_back("--resume");
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // its children see that it is gone
  }
  CommandResult last;
  wait_until([&] { return (last = longhaul(arguments)).status == 0; });
  return last;
}

pid_t start_training(const WholeTraining& whole, const std::string& out, bool resume) {
  std::vector<std::string> arguments = {
      "--case", whole.folder + "/case.json", "--out", out, "--quiet", "--threads", "2"};
  if (!whole.journal.empty()) arguments.insert(arguments.end(), {"--journal", whole.journal});
  if (resume) arguments.push_back("--resume");
  return start_command("longhaul-train", arguments);
}

void expect_same_training(const std::string& out, const WholeTraining& whole) {
  for (const char* table : {"/metrics.csv", "/exchanges.jsonl", "/training.json", "/boundary_bits.csv"})
    EXPECT_EQ(read_text(out + table), read_text(whole.folder + table)) << whole.folder << table;
  for (const auto& entry : fs::directory_iterator(whole.folder + "/checkpoints"))
    if (const std::string file = "/checkpoints/" + entry.path().filename().string();
        entry.path().extension() == ".json") {
      EXPECT_EQ(read_text(out + file), read_text(whole.folder + file)) << whole.folder << file;
    }
  const std::string times = read_text(out + "/step_times.csv"),
                    expected = read_text(whole.folder + "/step_times.csv");
  EXPECT_EQ(std::count(times.begin(), times.end(), '\n'), std::count(expected.begin(), expected.end(), '\n'));
}

void expect_same_run(const std::string& found, const std::string& expected) {
  for (const char* table : {"metrics.csv", "exchanges.csv", "links.csv", "summary.json"})
    EXPECT_EQ(read_text(found + "/" + table), read_text(expected + "/" + table)) << table;
}

}  // namespace longhaul
