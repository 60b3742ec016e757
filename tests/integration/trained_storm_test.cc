// Trainings of every method among replicas that crash and come back, as a user runs them: they end, are
// evaluated on whom the replay says is there, twice the same, and the same when they are killed in between.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "tests/integration/kills.h"
#include "tests/support/csv_table.h"
#include "tests/support/every_method.h"

namespace longhaul::trained_storm_test {

constexpr int kSteps = 20;

// Ravnest's late gradients and EF21's mean are refused.
std::vector<Json> followed_methods() {
  std::vector<Json> methods, all = every_method(4);
  all.push_back(Json::parse(R"({"name": "decoupled-diloco", "inner_steps": 4, "fragments": 2, "overlap": 1,
                                "quorum": 5, "grace": "50ms"})"));
  for (Json method : all) {
    if (method["name"] == "ravnest" || method.value("error_feedback", "") == "ef21") continue;
    method["label"] = method["name"].get<std::string>() + " " + std::to_string(methods.size());
    methods.push_back(method);
  }
  return methods;
}

Json storm(const Json& recovery, const std::vector<Json>& methods = followed_methods()) {
  Json json = small_scenario(Json::parse(R"({
    "replicas": 8, "train": {"checkpoint_every": 3},
    "network": {"fidelity": "analytic",
                "topology": {"hierarchical": {"sites": 2, "inside": {"rate": "1Gbps", "rtt": "2ms"},
                                              "trunk": {"rate": "1Gbps", "rtt": "10ms"}}, "star": null}},
    "faults": [{"kind": "crash", "replicas": "0-7", "every": "2.5s", "for": "300ms"}],
    "recovery": {"detect": "100ms", "state_bytes": 4}})"));
  json["methods"] = methods;
  json["train"]["steps"] = kSteps;
  json["recovery"].update(recovery);
  return json;
}

class TrainedStorm : public testing::TestWithParam<std::string> {};

// Of a table: by step, the replicas that have a row.
std::map<std::string, std::set<std::string>> replicas_by_step(const std::string& file) {
  const CsvTable table = read_csv(file);
  std::map<std::string, std::set<std::string>> found;
  for (const auto& row : table.rows)
    if (row[table.column("replica")] != "mean")
      found[row[table.column("step")]].insert(row[table.column("replica")]);
  return found;
}

TEST_P(TrainedStorm, EndsForEveryMethod) {
  Json recovery = {{"on_failure", GetParam()}};
  if (GetParam() == "own") recovery = {{"on_failure", "retry"}, {"start", "own"}};
  const std::string file = written(storm(recovery)), out = run_of(file, {"--jobs", "2"});
  int crashes = 0;
  const Json summary = summary_of(out);
  for (const Json& record : summary["cases"]) {
    const std::string name = record.at("case"), folder = out + "/cases/" + name;
    EXPECT_EQ(record.at("status"), "done") << name;
    EXPECT_TRUE(record.at("final_loss").is_number()) << name;
    EXPECT_LT(record.at("final_loss").get<double>(), 1.02 * std::log(256.)) << name << ": than a guess";
    crashes += record.at("crashes").get<int>();
    auto evaluated = replicas_by_step(folder + "/metrics.csv"),
         there = replicas_by_step(folder + "/steps.csv");
    EXPECT_FALSE(evaluated[std::to_string(kSteps)].empty()) << name;
    if (record.at("method") == "single") continue;  // one trains for all
    for (const auto& [step, replicas] : evaluated) {
      if (step == std::to_string(kSteps))  // who does that twice is not evaluated
        for (const std::string& replica : replicas) EXPECT_EQ(there[step].count(replica), 1u) << name;
      else
        EXPECT_EQ(replicas, there[step]) << name << ", step " << step;
    }
  }
  EXPECT_GT(crashes, 60) << "that is what the test is about";

  if (GetParam() != "retry") return;  // what is resumed is the same: killed three times, wherever it was
  const std::string again = fresh_folder("killed");
  std::mt19937 random(7);
  const CommandResult resumed =
      run_through_kills({"run", file, "--out", again, "--quiet", "--jobs", "2"}, {300, 2500}, random);
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  expect_same_run(again, out);
}

INSTANTIATE_TEST_SUITE_P(Policies, TrainedStorm, testing::Values("retry", "discard", "own"),
                         [](const auto& item) { return item.param; });

// Who waits for those who are gone trains as if nobody went; with faults that strike nobody all others do.
TEST(TrainedStormAlone, WithoutACrashLossesAreThoseWithoutFaults) {
  const std::vector<Json> methods = {{{"name", "ddp"}},
                                     {{"name", "diloco"}, {"inner_steps", 5}},
                                     {{"name", "streaming-diloco"}, {"inner_steps", 6}, {"fragments", 2}},
                                     {{"name", "noloco"}, {"inner_steps", 5}, {"pattern", "presend"}}};
  const auto all_losses = [&](const Json& scenario) {
    const std::string out = run_of(written(scenario), {"--jobs", "4"});
    std::vector<std::string> tables;
    for (const Json& method : methods) tables.push_back(losses(out, method["name"].get<std::string>()));
    return tables;
  };
  Json without = storm({{"on_failure", "retry"}}, methods), far = without;
  without.erase("faults");
  without.erase("recovery");
  far["faults"][0]["every"] = "1000h";
  const auto expected = all_losses(without);
  EXPECT_EQ(all_losses(far), expected);
  EXPECT_EQ(all_losses(storm({{"on_failure", "wait"}}, methods)), expected);
}

}  // namespace longhaul::trained_storm_test
