// The whole way of the data on the small scenario, also where a machine lacks something; and scenarios that
// carry independent checks as claims.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "tests/integration/kills.h"
#include "tests/support/csv_table.h"
#include "tests/support/said.h"
#include "tests/support/small_disk.h"

namespace longhaul::run_test {

namespace fs = std::filesystem;

const std::string kSmall = scenario_file("small.json");

// One undisturbed run that several tests look at.
const std::string& reference_run() {
  static const std::string out = run_of(kSmall);
  return out;
}

TEST(Run, LeavesEveryFileOfTheRunDirectory) {
  for (const char* file : {"scenario.json", "manifest.json", "summary.json", "metrics.csv", "exchanges.csv",
                           "links.csv", "report.html"})
    EXPECT_GT(read_text(reference_run() + "/" + file).size(), 200u) << file;
  const Json summary = summary_of(reference_run());
  EXPECT_EQ(summary["scenario"], "small");
  EXPECT_EQ(summary["cases"].size(), 5u);
  for (const Json& entry : summary["cases"]) EXPECT_EQ(entry["status"], "done");
}

TEST(Run, SameScenarioAndSeedGiveTheSameBytesWhateverTheJobs) {
  expect_same_run(run_of(kSmall, {"--jobs", "2"}), reference_run());
}

TEST(Run, AnotherSeedGivesOtherBytes) {
  const std::string other = run_of(kSmall, {"--set", "seed=2"});
  for (const char* table : {"metrics.csv", "exchanges.csv"})
    EXPECT_NE(read_text(reference_run() + "/" + table), read_text(other + "/" + table)) << table;
}

// Without train, with the same number of steps and parameters: the same exchanges, byte for byte.
TEST(Traffic, WithoutTrainTheSameTrafficIsReplayed) {
  const Json trained = summary_of(reference_run());
  const Json workload = {{"steps", 22}, {"parameters", trained["cases"][0]["model_parameters"]}};
  const std::string run = run_of(written(small_scenario({{"train", nullptr}, {"workload", workload}})));
  for (const char* table : {"/exchanges.csv", "/links.csv"})
    EXPECT_EQ(read_text(run + table), read_text(reference_run() + table)) << table;
}

// A sweep over networks trains once: as many trainings as methods.
TEST(Run, CasesThatDifferInTheNetworkShareATraining) {
  const Json sweep = {{"network.topology.star.rtt", {"10ms", "100ms"}}};
  const std::string run = run_of(written(small_scenario({{"sweep", sweep}})));
  EXPECT_EQ(summary_of(run)["cases"].size(), 10u);
  // ddp, diloco, independent, and noloco with both of its patterns.
  EXPECT_EQ(std::distance(fs::directory_iterator(run + "/train"), fs::directory_iterator()), 4);
}

// As on a machine, or with ranks, that longhaul does not start itself.
TEST(Run, TrainingsThatAreStartedByHandAreTakenAsTheyAre) {
  const std::string out = run_of(kSmall, {"--only", "cases"});
  for (const auto& entry : fs::directory_iterator(out + "/train")) {
    const std::string folder = entry.path().string();
    const CommandResult result = run_command_line(
        "longhaul-train", {"--case", folder + "/case.json", "--out", folder, "--quiet", "--threads", "1"});
    EXPECT_EQ(result.status, 0) << result.err;
  }
  const CommandResult result = longhaul({"run", kSmall, "--out", out, "--resume"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err.find("training "), std::string::npos) << result.err;
  expect_same_run(out, reference_run());
}

// A learning rate that leads to NaN in one case: the others are done and kept, the exit status is 1, the
// message names the case.
TEST(Run, ACaseThatFailsLeavesTheOthers) {
  const std::string run = fresh_folder("fails");
  const Json scenario =
      small_scenario(Json::parse(R"({"methods": [{"name": "ddp"}], "train": {"optimizer": {"clip": 0}},
                      "sweep": {"train.optimizer.lr": [1e-3, 1e30]}})"));
  const CommandResult result = longhaul({"run", written(scenario), "--out", run, "--quiet"});
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_SAYS(result.err, "failed: ddp,train.optimizer.lr=1e+30");
  const Json summary = summary_of(run);
  ASSERT_EQ(summary["cases"].size(), 2u);
  EXPECT_EQ(summary["cases"][0]["status"], "done");
  EXPECT_EQ(summary["cases"][1]["status"], "failed");
  EXPECT_GT(read_text(run + "/metrics.csv").size(), 500u);
}

// Of each step and replica: two micro-batches, two hops, both ways, each of tokens · hidden numbers in blocks
// of 100 with a scale of 4 bytes, in the bits that the training says it used there.
TEST(Run, ReplaysTheBitsThatItsTrainingLearned) {
  const Json patch = Json::parse(R"({
    "methods": [{"name": "noloco", "inner_steps": 5}],
    "train": {"model": {"layers": 3}, "batch": 4},
    "network": {"topology": {"star": {"rate": "1Gbps", "rtt": "20ms"}}, "fidelity": "analytic"},
    "pipeline": {"stages": 3, "microbatches": 2, "activations": "learned", "block": 100,
                 "learned_bits": {"penalty": 2, "lr": 0.3, "gate": 1}}})");
  const std::string run = run_of(written(small_scenario(patch)));
  const fs::path of_case = fs::directory_iterator(run + "/cases")->path();
  const int numbers = 4 / 2 * 32 * 32;  // of context and hidden size
  const auto bytes_of = [&](int bits) {
    int bytes = 0;
    for (int left = numbers; left > 0; left -= 100) bytes += 4 + (std::min(left, 100) * bits + 7) / 8;
    return bytes;
  };
  std::map<std::pair<std::string, int>, int> expected, found;  // by step and replica
  std::set<std::string> bits_seen;
  const CsvTable bits = read_csv(fs::directory_iterator(run + "/train")->path() / "boundary_bits.csv");
  for (const auto& row : bits.rows) {
    expected[{row[0], std::stoi(row[1])}] += 2 * 2 * bytes_of(std::stoi(row[3]));
    bits_seen.insert(row[3]);
  }
  const CsvTable sent = read_csv(of_case / "pipeline.csv");
  const std::size_t bytes = sent.column("bytes");
  for (const auto& row : sent.rows) found[{row[0], std::stoi(row[1]) / 3}] += std::stoi(row[bytes]);
  EXPECT_EQ(found, expected);
  EXPECT_GT(bits_seen.size(), 3u);
  double sum = 0;
  for (const auto& [at, of_step] : expected) sum += of_step;
  EXPECT_NEAR(summary_of(run)["cases"][0]["stage_bytes_per_step"], sum / static_cast<double>(expected.size()),
              1e-6);
}

// Replica 3 takes twice as long: 60 steps of 1 s in the mean of 16, and 120 for it.
TEST(Run, OfANetworkOfHomes) {
  const Json cases = summary_of(run_of(scenario_file("homes.json")))["cases"];
  ASSERT_FALSE(cases.empty());
  for (const Json& entry : cases) {
    EXPECT_EQ(entry["status"], "done");
    EXPECT_NEAR(entry["compute_time_s"].get<double>(), 60. * 17 / 16, 4);
  }
}

TEST(Run, AFolderThatHoldsARunIsNotOverwritten) {
  const std::vector<std::string> command = {"run", kSmall, "--out", reference_run()};
  expect_refused(longhaul(command), {"already holds a run", "--resume"});
  expect_refused(longhaul(command, {"--resume", "--set", "seed=9"}), {"another scenario"});
}

// With 700,000 KiB; 137: it did not end by itself.
CommandResult run_under_limit(const std::string& more = "") {
  return shell("ulimit -v 700000; timeout -s KILL 60 $B/longhaul run '" + kSmall + "' --out '" +
               fresh_folder("limited") + "/run' --set train.steps=10 " + more);
}

// What needs LibTorch takes more: `check` knows of bf16, and the trainer of the variable. A limit that is
// enough is enough; of one that is not: tests/unit/cli/work_estimate_test.cc.
TEST(AddressSpace, LibTorchIsCounted) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "their shadows are terabytes";
#endif
  const CommandResult bf16 = run_under_limit("--set train.precision=bf16");
  EXPECT_EQ(bf16.status, 2) << bf16.err;
  EXPECT_SAYS(bf16.err, "train: the address space of a process is limited to 717 MB here (ulimit -v)");
  setenv("LONGHAUL_PRODUCTS", "tensors", 1);
  const CommandResult tensors = run_under_limit();
  unsetenv("LONGHAUL_PRODUCTS");
  EXPECT_EQ(tensors.status, 1) << tensors.err;
  EXPECT_SAYS(tensors.out + tensors.err, "libraries of LibTorch");
  EXPECT_EQ(run_under_limit().status, 0);
}

// A disk that fills up in a training: the summary and the report cannot be written either, but what one has
// to read is what the training said; and once there is space, the run goes on.
TEST(FullDisk, TheTrainingsMessageIsSaidAndTheRunGoesOnOnceThereIsSpace) {
  constexpr std::size_t kBytes = 64 << 20, kLeft = 200 << 10;
  const std::string folder = fresh_folder("full_disk"), out = folder + "/run", filler = folder + "/filler";
  const SmallDisk disk(folder, kBytes);
  if (!disk.mounted()) GTEST_SKIP() << "only root mounts";
  write_text(filler, std::string(kBytes - kLeft, 'x'));
  const std::vector<std::string> command = {"run", kSmall, "--out", out, "--quiet"};
  const CommandResult full = longhaul(command);
  EXPECT_EQ(full.status, 1) << full.err;
  EXPECT_SAYS(full.err, "failed: ");
  EXPECT_SAYS(full.err, ".safetensors: cannot be written: No space left on device");
  fs::remove(filler);
  const CommandResult resumed = longhaul(command, {"--resume"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_TRUE(fs::exists(out + "/report.html"));
}

// So many, all of which hold.
Json claims_of(const std::string& scenario, std::size_t count) {
  const Json claims = summary_of(run_of(scenario_file("paper/" + scenario + ".json")))["claims"];
  EXPECT_EQ(claims.size(), count);
  for (const Json& claim : claims) EXPECT_EQ(claim["verdict"], "holds") << claim.dump();
  return claims;
}

TEST(Paper, EveryCollectiveTakesWhatItsClosedFormSays) {
  for (const Json& claim : claims_of("collectives", 32)) {
    const double ratio = claim["measured"].get<double>() / claim["threshold"].get<double>();
    const bool is_bound = claim["bound"].get<std::string>().rfind("at most", 0) == 0 ||
                          claim["statement"].get<std::string>().find("a bound") != std::string::npos;
    EXPECT_LE(ratio, 1.004) << claim["id"];
    EXPECT_GE(ratio, is_bound ? 0 : 0.996) << claim["id"];
  }
}

TEST(Paper, StreamingDilocosTableOfLinkRatesIsMet) {
  claims_of("streaming-diloco-bandwidth", 50);
}

// At least and at most a tenth off the published hours, as the claims have it; the replay is within 5 %.
TEST(Paper, HoursOfEagerUpdatesAreMetTo5Percent) {
  for (const Json& claim : claims_of("eager-updates-hours", 18)) {
    const bool is_least = claim["bound"].get<std::string>().rfind("at least", 0) == 0;
    const double published = claim["threshold"].get<double>() / (is_least ? 0.9 : 1.1);
    EXPECT_NEAR(claim["measured"].get<double>(), published, 0.05 * published) << claim["id"];
  }
}

}  // namespace longhaul::run_test
