// Crashes by the dozen among replicas, with every method, as a user runs them (make test-long: a thousand
// among 64): each run ends, everybody is accounted for, and twice the same. Mixed: some leave in
// order.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <set>

#include "core/base/csv.h"
#include "core/base/index.h"
#include "core/base/json.h"
#include "tests/integration/command.h"

namespace longhaul::churn_test {

namespace fs = std::filesystem;

#ifdef LONGHAUL_LONG_STORM
constexpr int kReplicas = 64, kSteps = 1200;
constexpr const char *kBetweenCrashes = "80s", *kGone = "500ms";
#else
constexpr int kReplicas = 16, kSteps = 60;
constexpr const char *kBetweenCrashes = "12s", *kGone = "2s";
#endif

// `joining`: "peer" or "own", whose state a replica begins with that is back.
Json scenario(const std::string& on_failure, const std::string& joining) {
  Json json = Json::parse(R"({
    "name": "storm", "seed": 5, "replicas": 64,
    "methods": [
      {"name": "co2", "inner_steps": 6}, {"name": "ddp"},
      {"name": "decoupled-diloco", "inner_steps": 12, "overlap": 2},
      {"name": "decoupled-diloco", "label": "merged by some", "inner_steps": 6, "quorum": 10, "grace": {"mads": 3}},
      {"name": "decoupled-diloco", "label": "merged by all", "inner_steps": 6, "slack": 0}, {"name": "ddp", "label": "buckets", "overlap_backward": 0.5, "buckets": 3},
      {"name": "delayed-nesterov", "inner_steps": 6}, {"name": "demo"}, {"name": "dgc"},
      {"name": "diloco", "inner_steps": 6}, {"name": "dilocox", "inner_steps": 6}, {"name": "eager-diloco", "inner_steps": 6},
      {"name": "epidemic", "inner_steps": 6}, {"name": "fsdp"}, {"name": "gossip", "inner_steps": 6},
      {"name": "gasloc", "inner_steps": 6}, {"name": "gasloc", "label": "expander", "inner_steps": 6, "graph": "expander"},
      {"name": "gossip", "label": "graceful", "inner_steps": 6, "grace": "300ms"},
      {"name": "hierarchical", "inner_steps": 6}, {"name": "independent"}, {"name": "ist", "inner_steps": 6},
      {"name": "local-sgd", "inner_steps": 6}, {"name": "local-sgd", "label": "quorum", "inner_steps": 6, "quorum": 10, "grace": "100ms"},
      {"name": "moshpit", "inner_steps": 6, "group_size": 4}, {"name": "muloco", "inner_steps": 6},
      {"name": "noloco", "inner_steps": 6}, {"name": "noloco", "label": "presend", "inner_steps": 6, "pattern": "presend"},
      {"name": "one-bit-adam", "freeze_step": 20}, {"name": "ravnest", "inner_steps": 6}, {"name": "single", "machine": "all"},
      {"name": "sparseloco", "inner_steps": 6}, {"name": "sparta", "inner_steps": 6},
      {"name": "streaming-diloco", "inner_steps": 12} ],
    "workload": {"model": {"hidden": 64, "layers": 16, "heads": 4, "ffn": 256, "context": 64, "vocabulary": 256},
                 "tokens": 1000, "step_time": {"lognormal": {"mean": "1s", "sigma": 0.2}}},
    "network": {"fidelity": "analytic", "topology": {"hierarchical": {"sites": 2, "inside": {"rate": "10Gbps", "rtt": "500us"}, "trunk": {"rate": "10Gbps", "rtt": "500us"}}}},
    "faults": [{"kind": "crash", "for_sigma": 1}]
  })");
  json["replicas"] = kReplicas;
  json["workload"]["steps"] = kSteps;
  json["faults"][0]["replicas"] = "0-" + std::to_string(kReplicas - 1);
  json["faults"][0]["every"] = kBetweenCrashes;
  json["faults"][0]["for"] = kGone;
  json["recovery"] = {{"on_failure", on_failure}, {"detect", "500ms"}};
  if (joining == "own") json["recovery"]["start"] = "own";
  return json;
}

class Storm : public testing::TestWithParam<std::pair<std::string, std::string>> {};

// Who is there at each step, from absences.csv alone.
std::vector<std::vector<bool>> presence(const fs::path& folder, double& bytes, int& crashes) {
  std::vector<std::vector<bool>> there(kReplicas, std::vector<bool>(kSteps + 1, true));
  const std::string file = folder / "absences.csv";
  CsvStream rows(file, {"replica", "left_step", "first_step", "bytes"});
  for (; rows.next(); ++crashes) {
    const auto replica = as_index(rows.integer(0));
    const std::int64_t first = rows.integer(2) > 0 ? rows.integer(2) : kSteps + 1;
    for (std::int64_t step = 1; step <= kSteps; ++step)
      if (step >= rows.integer(1)) there[replica][as_index(step)] = step >= first;
    bytes += rows.number(3);
  }
  return there;
}

TEST_P(Storm, EndsForEveryMethod) {
  const auto& [on_failure, joining] = GetParam();
  const std::string file = written(scenario(on_failure, joining));
  const std::string once = run_of(file, {"--jobs", "2"}),
                    twice = joining == "own" ? run_of(file, {"--jobs", "2"}) : once;
  const Json summary = summary_of(once);
  for (const Json& record : summary.at("cases")) {
    const std::string name = record.at("case");
    ASSERT_EQ(record.at("status"), "done") << name;
    const fs::path cases = "cases/" + name, folder = once / cases;
    for (const char* table : {"exchanges.csv", "steps.csv", "replicas.csv", "absences.csv", "schedule.jsonl",
                              "links.csv", "replay.json", "faults.csv"})
      EXPECT_EQ(read_text(folder / table), read_text(twice / cases / table)) << name << table;

    double bytes = 0;
    int crashes = 0;
    const auto there = presence(folder, bytes, crashes);
    EXPECT_EQ(record.at("crashes"), crashes);
    EXPECT_DOUBLE_EQ(record.at("recovery_bytes").get<double>(), bytes);
    const bool waits =
        on_failure == "wait" || name.find("fsdp") == 0 || name.find("ist") == 0 || name.find("single") == 0;
    EXPECT_GT(crashes, kReplicas * 2) << name;

    // Nobody has a row of a step or an operation while it is gone.
    std::vector<std::set<std::int64_t>> stepped(kReplicas);
    CsvStream steps(folder / "steps.csv", {"step", "replica"});
    while (steps.next())
      EXPECT_TRUE(stepped[as_index(steps.integer(1))].insert(steps.integer(0)).second) << name;
    for (std::size_t replica = 0; replica < stepped.size() && !waits; ++replica)
      for (const std::int64_t step : stepped[replica])
        EXPECT_TRUE(there[replica][as_index(step)]) << name << " " << replica << " " << step;

    // Who is in an operation computed its step; nobody is in two of a rule and step.
    const std::vector<Json> lines = json_lines(folder / "schedule.jsonl");
    std::set<std::array<int, 3>> members;
    for (std::size_t line = 1; line < lines.size(); ++line) {
      const Json& json = lines[line];
      const auto expect_once = [&](int step, int replica) {
        EXPECT_TRUE(members.insert({json.at("rule").get<int>(), step, replica}).second)
            << name << " " << json;
      };
      if (json.contains("group"))
        for (const int replica : json["group"].get<std::vector<int>>()) expect_once(json.at("step"), replica);
      else
        for (const std::vector<int> items : json.at("contributions")) {  // replica, posted, taken up
          expect_once(items.at(1), items.at(0));
          for (const int step : {items.at(1), items.at(2)})
            EXPECT_TRUE(waits || step == 0 || there[as_index(items[0])][as_index(step)])
                << name << " " << json << ", step " << step;
        }
    }

    // Tokens: what is in the model and what is lost is what was computed.
    CsvStream totals(folder / "replicas.csv", {"compute_s", "useful_steps", "lost_s", "clock_s", "gone_s"});
    double useful = 0;
    while (totals.next()) {
      EXPECT_GE(totals.number(0), totals.number(2) - 1e-6) << name;
      EXPECT_LE(totals.number(1), kSteps) << name;
      useful += totals.number(1);
    }
    EXPECT_DOUBLE_EQ(record.at("useful_steps").get<double>(), useful);
    // One that would only wait for nobody may be gone at the end.
    if (waits && name.find("independent") != 0 && name.find("single") != 0) {
      EXPECT_EQ(useful, kReplicas * kSteps) << name;
    }
  }
}

using Policy = std::pair<std::string, std::string>;
INSTANTIATE_TEST_SUITE_P(Policies, Storm,
                         testing::Values(Policy("retry", "peer"), Policy("discard", "peer"),
                                         Policy("retry", "own"), Policy("wait", "peer")),
                         [](const auto& item) { return item.param.first + "_" + item.param.second; });

}  // namespace longhaul::churn_test
