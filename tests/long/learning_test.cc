// Real training on real text, three seeds, five minutes: a part of `make test-long`. Prints the losses it
// judges.
//
// Every method must be at least half a nat below the unigram entropy of the text (what a model without
// context could reach), and every synchronized one below independent replicas, which had as many tokens per
// replica.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "core/base/options.h"
#include "tests/integration/command.h"
#include "tests/support/csv_table.h"

namespace longhaul::learning_test {

const std::string& finished_run() {
  static const std::string out = [] {
    const std::string folder = fresh_folder("learning");
    const CommandResult result =
        longhaul({"run", scenario_file("three-seeds.json"), "--out", folder + "/run"});
    EXPECT_EQ(result.status, 0) << result.err;
    std::printf("%s\n", result.out.c_str());
    return folder + "/run";
  }();
  return out;
}

// By (method, seed).
std::map<std::pair<std::string, int>, Json> records() {
  std::map<std::pair<std::string, int>, Json> records;
  const Json summary = summary_of(finished_run());
  for (const Json& entry : summary["cases"]) records[{entry["method"], entry["seed"]}] = entry;
  return records;
}

TEST(Learning, BelowTheUnigramEntropyAndBelowIndependentReplicas) {
  const auto all = records();
  ASSERT_EQ(all.size(), 12u);
  for (const auto& [key, training] : all) {
    const double loss = training["final_loss"], unigram = training["unigram_entropy"];
    const double independent = all.at({"independent", key.second})["final_loss"];
    std::printf("%-12s seed %d: final loss %.3f, %.3f below the unigram entropy, %.3f below independent\n",
                key.first.c_str(), key.second, loss, unigram - loss, independent - loss);
    EXPECT_LE(loss, unigram - 0.5);
    if (key.first != "independent") {
      EXPECT_LT(loss, independent);
    }
  }
}

TEST(Learning, WeightSpread) {
  const CsvTable table = read_csv(finished_run() + "/metrics.csv");
  const std::size_t name = table.column("case"), phase = table.column("phase"),
                    replica = table.column("replica"), spread = table.column("weight_spread");
  std::map<std::string, double> largest_before, largest_after;
  for (const auto& row : table.rows) {
    if (row[replica] != "mean") continue;
    double& largest = row[phase] == "before" ? largest_before[row[name]] : largest_after[row[name]];
    largest = std::max(largest, std::stod(row[spread]));
  }
  for (int seed = 1; seed <= 3; ++seed) {
    const std::string tail = ",seed=" + std::to_string(seed);
    EXPECT_EQ(largest_after.at("ddp" + tail), 0);
    EXPECT_EQ(largest_after.at("diloco" + tail),
              0);  // every evaluation falls on an outer step: right after it
    EXPECT_GT(largest_before.at("diloco" + tail), 0);
    EXPECT_GT(largest_after.at("noloco" + tail), 0);
  }
}

}  // namespace longhaul::learning_test
