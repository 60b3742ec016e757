// Finished trainings of one run, replayed by another one on its own network: `longhaul run --trainings RUN`.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/integration/kills.h"
#include "tests/support/said.h"

namespace longhaul::reused_trainings_test {

namespace fs = std::filesystem;

const std::string kSmall = scenario_file("small.json");
const std::vector<std::string> kSlower = {"--set", "network.topology.star.rate=20Mbps"};

const std::string& trained_run() {
  static const std::string out = run_of(kSmall);
  return out;
}

std::vector<std::string> with(std::vector<std::string> first, const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

// Losses, times, bytes: all files of the run are those of one that trained itself.
TEST(ReusedTrainings, AreReplayedOnAnotherNetworkToTheBytesOfAFreshRun) {
  const std::string fresh = run_of(kSmall, kSlower), out = fresh_folder("reused");
  const CommandResult result = longhaul({"run", kSmall, "--out", out, "--trainings", trained_run()}, kSlower);
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err.find("training 1"), std::string::npos) << result.err;
  EXPECT_SAYS(result.err, "taken 4 of 4 trainings");
  EXPECT_SAYS(result.out, "At equal tokens");
  expect_same_run(out, fresh);
  const Json cases = summary_of(out)["cases"], before_it = summary_of(trained_run())["cases"];
  EXPECT_EQ(cases.size(), 5u);
  for (const Json& entry : cases) {
    EXPECT_EQ(entry["status"], "done");
    EXPECT_TRUE(entry["final_loss"].is_number());
    // Its network is its own.
    for (const Json& before : before_it)
      if (before["label"] == entry["label"] && entry["label"] != "independent") {
        EXPECT_GT(entry["simulated_time_s"].get<double>(), before["simulated_time_s"].get<double>());
      }
  }
}

// The folder is complete in itself, and says who trained.
TEST(ReusedTrainings, AreCopiedAndTheManifestSaysFromWhere) {
  const std::string first = run_of(kSmall), out = fresh_folder("reused");
  ASSERT_EQ(
      longhaul({"run", kSmall, "--out", out, "--quiet", "--trainings", first, "--jobs", "2"}, kSlower).status,
      0);
  const Json manifest = Json::parse(read_text(out + "/manifest.json"));
  const Json trainer = Json::parse(read_text(first + "/manifest.json"));
  ASSERT_EQ(manifest["trainings"].size(), 4u);
  for (const auto& [key, said] : manifest["trainings"].items()) {
    EXPECT_EQ(said["taken_from"]["run"], first) << key;
    EXPECT_EQ(said["taken_from"]["started"], trainer["started"]);
    EXPECT_EQ(said["taken_from"]["scenario_hash"], trainer["scenario_hash"]);
    EXPECT_EQ(read_text(out + "/train/" + key + "/metrics.csv"),
              read_text(first + "/train/" + key + "/metrics.csv"));
  }
  fs::remove_all(first);
  // Taken once more: still the run that trained.
  const std::string third = fresh_folder("reused");
  ASSERT_EQ(longhaul({"run", kSmall, "--out", third, "--quiet", "--trainings", out}).status, 0);
  const Json again = Json::parse(read_text(third + "/manifest.json"));
  for (const auto& [key, said] : again["trainings"].items())
    EXPECT_EQ(said["taken_from"]["run"], first) << key;
}

TEST(ReusedTrainings, WhatIsMissingIsNamedUnlessItMayBeTrained) {
  const std::vector<std::string> longer = {"--set", "train.steps=30"};
  const std::string out = fresh_folder("reused");
  const std::vector<std::string> command = {"run",     kSmall,        "--out",      out,
                                            "--quiet", "--trainings", trained_run()};
  expect_refused(longhaul(command, longer),
                 {"--trainings: ", "has not finished 4 of 4 trainings: ddp (seed 1, ddp-",
                  "differs in train.steps (22 there, 30 here)", "--train-missing trains those"});
  EXPECT_FALSE(fs::exists(out + "/scenario.json"));
  // A second seed alone is trained.
  const std::string two = written(small_scenario({{"seed", nullptr}, {"seeds", {1, 2}}}));
  expect_refused(longhaul({"run", two, "--out", out, "--trainings", trained_run()}),
                 {"has not finished 4 of 8 trainings", "differs in seed (1 there, 2 here)"});
  const CommandResult result =
      longhaul({"run", two, "--out", out, "--trainings", trained_run(), "--train-missing"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_SAYS(result.err, "training 4 of 8");
  expect_same_run(out, run_of(two));
}

TEST(ReusedTrainings, WrongFoldersAreRefused) {
  const auto with_run = [&](const std::string& run, const std::vector<std::string>& more = {}) {
    return longhaul({"run", kSmall, "--out", fresh_folder("reused"), "--quiet", "--trainings", run}, more);
  };
  expect_refused(with_run("/nowhere/at/all"), {"--trainings: /nowhere/at/all does not exist"});
  expect_refused(with_run(kSmall), {"is a file"});
  expect_refused(with_run(fresh_folder("empty")), {"has no trainings"});
  expect_refused(with_run(trained_run(), {"--only", "report"}), {"beside --only report"});
  expect_refused(
      longhaul({"run", kSmall, "--out", trained_run(), "--overwrite", "--trainings", trained_run()}),
      {"is also --out"});
  EXPECT_TRUE(fs::exists(trained_run() + "/train"));
  const Json untrained =
      small_scenario({{"train", nullptr}, {"workload", {{"steps", 40}, {"parameters", 1e4}}}});
  expect_refused(
      longhaul({"run", written(untrained), "--out", fresh_folder("reused"), "--trainings", trained_run()}),
      {"a scenario that trains nothing"});
}

// Shards, workers and a run that continues take their share, and together they are the one run.
TEST(ReusedTrainings, GoWithShardsWorkersRanksAndResume) {
  const std::string fresh = run_of(kSmall, kSlower);
  std::set<std::string> cases;
  for (const char* shard : {"1/2", "2/2"}) {
    const std::string out = fresh_folder("shard");
    ASSERT_EQ(
        longhaul({"run", kSmall, "--out", out, "--quiet", "--shard", shard, "--trainings", trained_run()},
                 kSlower)
            .status,
        0);
    const Json of_shard = summary_of(out)["cases"];
    for (const Json& entry : of_shard) {
      EXPECT_EQ(entry["final_loss"], record(fresh, entry["label"].get<std::string>())["final_loss"]);
      cases.insert(entry["case"].get<std::string>());
    }
  }
  EXPECT_EQ(cases.size(), 5u);
  const std::string out = fresh_folder("workers");
  for (const std::string& name : cases)
    ASSERT_EQ(
        longhaul({"run", kSmall, "--out", out, "--quiet", "--only-case", name, "--trainings", trained_run()},
                 kSlower)
            .status,
        0);
  ASSERT_EQ(longhaul({"run", kSmall, "--out", out, "--quiet", "--resume", "--ranks", "2", "--trainings",
                      trained_run()},
                     kSlower)
                .status,
            0);
  expect_same_run(out, fresh);
  // In parts.
  const std::string parts = fresh_folder("parts");
  const std::vector<std::string> command = {"run", kSmall, "--out", parts, "--quiet"};
  ASSERT_EQ(longhaul(with(command, {"--only", "train", "--trainings", trained_run()}), kSlower).status, 0);
  ASSERT_EQ(longhaul(with(command, {"--only", "replay", "--resume"}), kSlower).status, 0);
  expect_same_run(parts, fresh);
  ASSERT_EQ(longhaul(with(command, {"--resume", "--trainings", trained_run()}), kSlower).status, 0);
}

// A replay alone of a scenario that trains has no losses: it used to end with 0.
TEST(ReusedTrainings, AReplayAloneWithoutTrainingsIsRefused) {
  const std::string out = fresh_folder("reused");
  expect_refused(longhaul({"run", kSmall, "--out", out, "--only", "replay", "--quiet"}),
                 {"--only: found replay", "has no finished training of any of its cases", "--trainings RUN"});
  ASSERT_EQ(
      longhaul({"run", kSmall, "--out", out, "--only", "replay", "--quiet", "--trainings", trained_run()})
          .status,
      0);
  expect_same_run(out, trained_run());
  // Some are there: those are replayed, the others named.
  const std::string some = fresh_folder("some");
  fs::create_directories(some);
  fs::copy(trained_run(), some, fs::copy_options::recursive);
  fs::remove_all(some + "/cases");
  fs::remove(training(trained_run(), "ddp").replace(0, trained_run().size(), some) + "/done");
  const CommandResult result = longhaul({"run", kSmall, "--out", some, "--only", "replay", "--resume"});
  EXPECT_EQ(result.status, 0);
  EXPECT_SAYS(result.err, "warning: 1 case not replayed, because the training is not finished: ddp");
}

}  // namespace longhaul::reused_trainings_test
