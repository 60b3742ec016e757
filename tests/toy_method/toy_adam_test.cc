// The method of docs/howto/add-a-method.md, which has a table of its own: its step on a file, as that page
// proves one, a run, and a training that is killed. Numbers are halves and quarters, so that the arithmetic
// by hand is exact.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "core/base/index.h"
#include "tests/integration/command.h"
#include "tests/integration/kills.h"
#include "tests/support/csv_table.h"
#include "trainer/checkpoint/safetensors.h"

namespace longhaul::toy_adam_test {

using Table = std::vector<float>;  // two replicas of two parameters
using Tables = std::map<std::string, Table>;

Tables after_step(int step, const Tables& before) {
  const std::string folder = fresh_folder("toy-adam");
  StoredTensors tensors;
  for (const auto& [name, values] : before) tensors[name] = store(values, {2, 2});
  write_safetensors(folder + "/before.safetensors", tensors);
  const CommandResult result = run_command_line(
      "longhaul-train",
      {"outer-step", "--method", "toy-adam", "--step", std::to_string(step), "--set", "inner_steps=10",
       "--set", "outer_lr=0.5", "--set", "beta1=0.5", "--set", "beta2=0.75", "--in",
       folder + "/before.safetensors", "--out", folder + "/after.safetensors"});
  EXPECT_EQ(result.status, 0) << result.err;
  Tables after;
  if (result.status == 0)
    for (const auto& [name, tensor] : read_safetensors(folder + "/after.safetensors")) {
      after[name].resize(tensor.bytes.size() / sizeof(float));
      std::memcpy(after[name].data(), tensor.bytes.data(), tensor.bytes.size());
    }
  return after;
}

// Delta is (2, 0) and (0, -4), the mean (1, -2). Step 10 is the first outer step, so both moments without
// their bias are the mean and its square, and phi moves by half of the sign. Then the same mean again:
// m = 0.75 of it, v = 0.4375 of its square, which are 1 - 0.5^2 and 1 - 0.75^2. So phi moves by half of the
// sign once more; with the biases of the first step it would be by 0.567.
TEST(ToyAdam, ItsFirstTwoStepsAreThoseWorkedOutByHand) {
  const Table zeros(4);
  Tables tables = after_step(
      10, {{"theta", {3, 2, 1, -2}}, {"phi", {1, 2, 1, 2}}, {"momentum", zeros}, {"outer_squares", zeros}});
  const Tables first = {{"theta", {1.5, 1.5, 1.5, 1.5}},
                        {"phi", {1.5, 1.5, 1.5, 1.5}},
                        {"momentum", {0.5, -1, 0.5, -1}},
                        {"outer_squares", {0.25, 1, 0.25, 1}}};
  ASSERT_EQ(tables, first);
  tables["theta"] = {3.5, 1.5, 1.5, -2.5};
  tables = after_step(20, tables);
  ASSERT_EQ(tables.size(), 4u);
  EXPECT_EQ(tables["momentum"], (Table{0.75, -1.5, 0.75, -1.5}));
  EXPECT_EQ(tables["outer_squares"], (Table{0.4375, 1.75, 0.4375, 1.75}));
  EXPECT_FLOAT_EQ(tables["phi"][0], 2);
  EXPECT_FLOAT_EQ(tables["phi"][1], 1);
}

// Two outer steps of four replicas.
Json with_messages_of_300_ms() {
  Json scenario = small_scenario();
  scenario["methods"] = {{{"name", "toy-adam"}, {"inner_steps", 10}, {"all_reduce", "ring"}}};
  scenario["workload"] = {{"step_time", {{"constant", "400ms"}}}};
  scenario["network"] = {{"topology", {{"mesh", {{"rate", "1Gbps"}, {"rtt", "0s"}}}}},
                         {"message_time", {{"mean", "0.3s"}, {"std", "0s"}}}};
  return scenario;
}

// Two all-reduces around a ring of four, six messages of 0.3 s one after another, each a quarter of 37,024
// numbers of 2 bytes: embedding and output, 8192 each, two layers of 10,304 and a norm of 32.
TEST(ToyAdam, ItsRunIsInClosedForm) {
  const std::string run = run_of(written(with_messages_of_300_ms()));
  const Json record = summary_of(run)["cases"][0];
  EXPECT_EQ(record["label"], "toy-adam");
  EXPECT_NEAR(record["sync_time_s"]["mean"].get<double>(), 1.8, 1e-6);
  const CsvTable table = read_csv(run + "/cases/toy-adam/exchanges.csv");
  EXPECT_EQ(table.rows.size(), 2u * 4);
  for (const auto& row : table.rows) EXPECT_EQ(row[table.column("bytes")], std::to_string(6 * 37024 / 4 * 2));
  // What the trainer has moved.
  const std::vector<Json> moved =
      json_lines(run + "/train/" + record["training"].get<std::string>() + "/exchanges.jsonl");
  ASSERT_EQ(moved.size(), 2u);
  for (const Json& entry : moved) EXPECT_EQ(entry["bytes"], 37024 * 2);
}

// Replica 3 goes in its first step and stays away: the others meet in rings of three, four messages of 0.3 s.
// In two stages the same is trained. Three that do not wait for a slow one meet so too; it gets the result.
TEST(ToyAdam, GoesOnWithACrashInStagesAndWithAQuorum) {
  Json scenario = with_messages_of_300_ms(), slow = scenario;
  scenario["faults"] = {{{"kind", "crash"}, {"replicas", "3"}, {"at", "100ms"}, {"for", "1h"}}};
  scenario["recovery"] = {{"detect", "100ms"}};
  const Json alone = summary_of(run_of(written(scenario)))["cases"][0];
  EXPECT_NEAR(alone["simulated_time_s"].get<double>(), 22 * 0.4 + 2 * 1.2, 1e-6);
  scenario["pipeline"] = {{"stages", 2}, {"microbatches", 1}};
  scenario["faults"][0]["replicas"] = "6";  // its first worker
  const Json staged = summary_of(run_of(written(scenario)))["cases"][0];
  for (const Json& record : {alone, staged}) {
    EXPECT_NEAR(record["sync_time_s"]["mean"].get<double>(), 1.2, 1e-6);
    EXPECT_EQ(record["crashes"], 1);
  }
  EXPECT_EQ(staged["final_loss"], alone["final_loss"]);

  slow["methods"][0]["quorum"] = 3;
  slow["workload"]["step_time_factors"] = {{"3", 10}};
  const CsvTable rows = read_csv(run_of(written(slow)) + "/cases/toy-adam/exchanges.csv");
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(std::stod(rows.rows[as_index(i)][rows.column("done_s")]), 10 * 0.4 + 1.2, 1e-6);
}

// Its table is in the checkpoints.
TEST(ToyAdam, AKilledTrainingEndsWithTheSameBytes) {
  std::mt19937 random(2);
  const Json method = {{"name", "toy-adam"}, {"inner_steps", 8}};
  expect_whole_after_kills(whole_training(method, 200, 3), 2, random);
}

}  // namespace longhaul::toy_adam_test
