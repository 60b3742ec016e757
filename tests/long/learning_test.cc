// Real training on real text, three seeds, five minutes: a part of `make test-long`. Prints the losses it
// judges.
//
// Every method must be at least half a nat below the unigram entropy of the text (what a model without
// context could reach), and every synchronized one below independent replicas, which had as many tokens per
// replica.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "tests/integration/command.h"

namespace longhaul::learning_test {

TEST(Learning, BelowTheUnigramEntropyAndBelowIndependentReplicas) {
  const std::string out = fresh_folder("learning") + "/run";
  const CommandResult result = longhaul({"run", scenario_file("three-seeds.json"), "--out", out});
  EXPECT_EQ(result.status, 0) << result.err;
  std::printf("%s\n", result.out.c_str());
  const Json summary = summary_of(out);
  std::map<std::pair<std::string, int>, Json> all;  // by method and seed
  for (const Json& entry : summary["cases"]) all[{entry["method"], entry["seed"]}] = entry;
  ASSERT_EQ(all.size(), 12u);
  for (const auto& [key, training] : all) {
    const double loss = training["final_loss"], unigram = training["unigram_entropy"];
    const double independent = all.at({"independent", key.second})["final_loss"];
    std::printf("%-12s seed %d: final loss %.3f, %.3f below the unigram entropy, %.3f below independent\n",
                key.first.c_str(), key.second, loss, unigram - loss, independent - loss);
    EXPECT_LE(loss, unigram - 0.5);
    // The last step is an outer one, after which replicas of ddp and diloco are alike.
    EXPECT_EQ(training["weight_spread"] == 0, key.first == "ddp" || key.first == "diloco");
    if (key.first != "independent") {
      EXPECT_LT(loss, independent);
    }
  }
}

}  // namespace longhaul::learning_test
