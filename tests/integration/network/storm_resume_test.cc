// A storm of crashes whose run is itself killed with SIGKILL, with all its children, while cases are
// half-way, and resumed again and again: it ends with the bytes of one that was not disturbed.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "core/base/json.h"
#include "tests/integration/command.h"
#include "tests/integration/network/run_contents.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

constexpr int kMethods = 5, kPolicies = 3, kKills = 6;

std::string write_storm(const std::string& folder) {
  write_text(folder + "/storm.json", R"({
    "name": "storm", "seed": 5, "replicas": 16,
    "methods": [{"name": "ddp"}, {"name": "diloco", "inner_steps": 4},
                {"name": "streaming-diloco", "inner_steps": 8, "fragments": 2},
                {"name": "noloco", "inner_steps": 4, "pattern": "presend"}, {"name": "gossip", "inner_steps": 4}],
    "workload": {"parameters": 200000, "steps": 200, "step_time": {"lognormal": {"mean": "1s", "sigma": 0.2}}},
    "network": {"fidelity": "flow", "topology": {"star": {"rate": "100Mbps", "rtt": "50ms"}}},
    "faults": [{"kind": "crash", "replicas": "0-15", "every": "60s", "for": "5s", "for_sigma": 1}],
    "recovery": {"detect": "1s"},
    "sweep": {"recovery.on_failure": ["retry", "discard", "wait"]}
  })");
  return folder + "/storm.json";
}

// Cases whose replay has written something since then, and is not over.
std::set<std::string> half_way(const std::string& run, fs::file_time_type since) {
  std::set<std::string> cases;
  if (!fs::exists(run + "/cases")) return cases;
  for (const auto& entry : fs::directory_iterator(run + "/cases")) {
    const fs::path table = entry.path() / "exchanges.csv";
    std::error_code none;  // it may have none yet
    const bool is_written = fs::file_size(table, none) > 0 && !none && fs::last_write_time(table) > since;
    if (is_written && !fs::exists(entry.path() / "done")) cases.insert(entry.path().filename());
  }
  return cases;
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(entry.path() / "stat");
    std::string stat;
    std::getline(in, stat);
    std::istringstream behind_name(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
    char state = 0;
    pid_t its_parent = 0;
    if (behind_name >> state >> its_parent && its_parent == parent) children.push_back(std::stoi(name));
  }
  return children;
}

// The command first, so that it does not see its children end.
int kill_with_children(pid_t command) {
  const std::vector<pid_t> children = children_of(command);
  kill(command, SIGKILL);
  for (const pid_t child : children) kill(child, SIGKILL);
  return wait_for(command);
}

TEST(StormResume, KilledAgainAndAgainItEndsWithTheSameBytes) {
  const std::string folder = fresh_folder("storms"), scenario = write_storm(folder);
  const std::string run = folder + "/run", whole = folder + "/whole";
  const std::vector<std::string> begin = {"run", scenario, "--out", run, "--jobs", "2", "--quiet"};
  std::vector<std::string> resume = begin;
  resume.push_back("--resume");
  ASSERT_EQ(longhaul({"run", scenario, "--out", whole, "--jobs", "1", "--quiet"}).status, 0);

  std::set<std::string> cut_short;
  for (int killed = 0; killed < kKills; ++killed) {
    const fs::file_time_type start = fs::file_time_type::clock::now();
    const pid_t command = start_command("longhaul", killed == 0 ? begin : resume);
    for (int i = 0; i < 60000 && half_way(run, start).empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(40 * killed));
    ASSERT_EQ(kill_with_children(command), 128 + SIGKILL) << "it was over before it was killed";
    for (const std::string& name : half_way(run, start)) cut_short.insert(name);
  }
  EXPECT_GE(cut_short.size(), 2u) << "replays that were killed";

  // Locks of what was killed are free at once; its children take a moment.
  CommandResult result;
  result.status = -1;
  for (int i = 0; i < 100 && result.status != 0; ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    result = longhaul(resume);
  }
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(differences_of(run, whole), "");
  const Json summary = Json::parse(read_text(run + "/summary.json"));
  const Json& records = summary.at("cases");
  ASSERT_EQ(records.size(), std::size_t{kMethods * kPolicies});
  for (const Json& record : records) EXPECT_GT(record.at("crashes"), 16) << record.at("case");
}

}  // namespace
}  // namespace longhaul
