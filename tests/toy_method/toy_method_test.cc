// The method of docs/howto/add-a-method.md from end to end: its step by hand, its traffic and its times in
// closed form, and a training that is killed.
#include <gtest/gtest.h>

#include <set>

#include "methods/common/registry.h"
#include "tests/integration/command.h"
#include "tests/integration/kills.h"
#include "tests/support/csv_table.h"
#include "tests/unit/trainer/operation_support.h"

namespace longhaul::toy_method_test {

const Json kToy = {{"name", "toy-fragments"}, {"inner_steps", 8}, {"overlap", 2}};

// Embedding and first layer, 8192 + 10304 columns; second layer, norm and output, 10304 + 32 + 8192: 73
// chunks of 256 each, of which 16 numbers of 2 bytes and 16 places of 8 bits travel.
constexpr int kContribution = 73 * (16 * 2 + 16);

TEST(ToyMethod, ItsStepIsTheOneWorkedOutByHand) {
  UpdateBench bench({"toy-fragments", "toy", {{"outer_lr", 0.5}, {"mixing", 0.5}}}, 2, 2, {Slot::kError});
  OperationRule rule = rule_for({"delta"});
  rule.kind = OperationKind::kAllGather;
  rule.overlap_steps = 2;
  rule.payload[0].codec = {TopK{256, 1, Wire::kFp32}, Feedback::kClassic};
  const Operation operation{&rule, 1, 3, {}, 0};

  bench.set(Slot::kWeights, 0, {3, 1});   // sends (3, 0)
  bench.set(Slot::kWeights, 1, {1, -4});  // sends (0, -4)
  bench.runner.post(operation);
  EXPECT_EQ(bench.row(Slot::kError, 0), (std::vector<float>{0, 1}));
  EXPECT_EQ(bench.row(Slot::kError, 1), (std::vector<float>{1, 0}));
  bench.set(Slot::kWeights, 0, {5, 1});  // two steps later
  bench.set(Slot::kWeights, 1, {2, -4});
  bench.runner.apply(operation);
  // The mean is (1.5, -2), so phi = (0.75, -1), and each row goes half the way to it.
  for (int replica : {0, 1})
    EXPECT_EQ(bench.row(Slot::kSlowWeights, replica), (std::vector<float>{0.75, -1}));
  EXPECT_EQ(bench.row(Slot::kWeights, 0), (std::vector<float>{2.875, 0}));
  EXPECT_EQ(bench.row(Slot::kWeights, 1), (std::vector<float>{1.375, -2.5}));
}

// Every message takes 0.3 s, so a gathering around the ring of four 0.9 s; a step takes 0.4 s. With two steps
// in between 0.1 s are left to be waited for, with one step 0.5 s.
Json scenario() {
  Json json = small_scenario();
  Json late = kToy;
  late["overlap"] = 1;
  late["label"] = "toy-late";
  json["methods"] = {kToy, late};
  json["workload"] = {{"step_time", {{"constant", "400ms"}}}};
  json["network"] = {{"topology", {{"mesh", {{"rate", "1Gbps"}, {"rtt", "0s"}}}}},
                     {"message_time", {{"mean", "0.3s"}, {"std", "0s"}}}};
  const auto claim = [](const char* id, const char* ratio) {
    return Json{{"id", id},         {"statement", id},       {"ratio", ratio},
                {"of", "toy-late"}, {"to", "toy-fragments"}, {"at_least", 4}};
  };
  json["claims"] = {claim("less-exposed", "exposed_s.mean"), claim("less-sync", "sync_time_s.mean")};
  return json;
}

TEST(ToyMethod, ItsRunIsInClosedForm) {
  const std::string out = fresh_folder("toy") + "/run";
  const CommandResult result = longhaul({"run", written(scenario()), "--out", out, "--quiet"});
  ASSERT_LE(result.status, 1) << result.err;
  const Json summary = summary_of(out);
  ASSERT_EQ(summary["cases"].size(), 2u);
  for (const Json& entry : summary["cases"]) {
    EXPECT_NEAR(entry["sync_time_s"]["mean"].get<double>(), 0.9, 1e-6);
    EXPECT_NEAR(entry["exposed_s"]["mean"].get<double>(), entry["label"] == "toy-late" ? 0.5 : 0.1, 1e-6);
  }
  ASSERT_EQ(summary["claims"].size(), 2u);
  for (const Json& claim : summary["claims"])
    EXPECT_EQ(claim["verdict"], claim["id"] == "less-exposed" ? "holds" : "fails");
  const CsvTable table = read_csv(out + "/cases/toy-fragments/exchanges.csv");
  std::set<std::string> steps, names;
  for (const auto& row : table.rows) {
    steps.insert(row[table.column("step")]);
    names.insert(row[table.column("exchange")]);
    EXPECT_EQ(row[table.column("bytes")], std::to_string(3 * kContribution)) << "its own and two passed on";
  }
  EXPECT_EQ(steps, (std::set<std::string>{"4", "8", "12", "16", "20"}));
  EXPECT_EQ(names, (std::set<std::string>{"fragment-0", "fragment-1"}));
  EXPECT_EQ(table.rows.size(), 5u * 4);
  // The trainer moves what the plan says.
  int lines = 0;
  const std::string training = summary["cases"][0]["training"];
  for (const Json& entry : json_lines(out + "/train/" + training + "/exchanges.jsonl")) {
    EXPECT_EQ(entry["exchange"], lines % 2 == 0 ? "fragment-1" : "fragment-0");
    EXPECT_EQ(entry["step"], 4 * ++lines);
    EXPECT_EQ(entry["bytes"], kContribution);
  }
  EXPECT_EQ(lines, 5);
}

// Checkpoints in which a fragment is under way too: 8, 9 and 10 wait for the one posted after 8.
TEST(ToyMethod, AKilledTrainingEndsWithTheSameBytes) {
  std::mt19937 random(1);
  expect_whole_after_kills(whole_training(kToy, 200, 3), 4, random);
}

}  // namespace longhaul::toy_method_test
