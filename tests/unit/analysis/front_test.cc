// The front of two metrics against all pairs one by one, and bounds.
#include "analysis/comparison/front.h"

#include <gtest/gtest.h>

#include "core/base/index.h"
#include "core/base/random.h"
#include "tests/support/said.h"

namespace longhaul::front_test {

Json record(double cost, double seconds, double refit_s = 1) {
  return {{"case", "a"},
          {"status", "done"},
          {"cost", cost},
          {"simulated_time_s", seconds},
          {"refit_time_s", {{"mean", refit_s}}}};
}
const CaseRule kRule = {"cost", "simulated_time_s"};

TEST(Front, HasWhatNoOtherBeats) {
  const CaseChoice found =
      choose({record(3, 1), record(1, 9), record(2, 5), record(2, 4), record(4, 1), record(1, 9)}, kRule);
  EXPECT_EQ(found.front, (std::vector<std::size_t>{1, 3, 0}));
  EXPECT_EQ(found.choice, std::size_t{1});
}

TEST(Front, IsThatOfAllPairs) {
  for (std::uint32_t draw = 0; draw < 50; ++draw) {
    RandomStream stream(draw, Purpose::kFaults);
    std::vector<Json> records;
    for (int i = 0; i < 30; ++i)
      records.push_back(record(static_cast<double>(stream.below(9)), static_cast<double>(stream.below(9))));
    const std::vector<std::size_t> front = choose(records, kRule).front;
    const auto at = [&](std::size_t i, const char* metric) { return records[i].at(metric).get<double>(); };
    for (std::size_t i = 0; i < records.size(); ++i) {
      bool is_beaten = false;  // by one that is as good in both and better in one, or is the same and earlier
      for (std::size_t j = 0; j < records.size(); ++j) {
        const double less = at(j, "cost") - at(i, "cost"),
                     earlier = at(j, "simulated_time_s") - at(i, "simulated_time_s");
        is_beaten |= less <= 0 && earlier <= 0 && (less < 0 || earlier < 0 || j < i);
      }
      EXPECT_EQ(std::count(front.begin(), front.end(), i), !is_beaten) << draw << " " << i;
    }
  }
}

// Each seed by itself has another case ahead; the second is ahead in the mean.
TEST(Front, IsOfMeansOverSeeds) {
  std::vector<Json> records;
  for (const auto& [seed, distribution, cost] :
       {std::tuple{1, "broadcast", 9.}, {2, "broadcast", 1.}, {1, "chain", 4.}, {2, "chain", 4.}}) {
    Json one = record(cost, 10 * cost);
    one["seed"] = seed;
    one["swept"] = {{"seed", seed}, {"distribution", distribution}};
    records.push_back(one);
  }
  std::vector<Json> means = means_over_seeds(records);
  ASSERT_EQ(means.size(), 2U);
  EXPECT_EQ(means[0]["cost"], 5);
  EXPECT_EQ(means[0]["seeds"], (Json{1, 2}));
  EXPECT_EQ(means[0]["swept"], (Json{{"distribution", "broadcast"}}));
  EXPECT_EQ(means[1]["simulated_time_s"], 40);
  EXPECT_EQ(choose(means, kRule).choice, std::size_t{1});
  records[1]["status"] = "failed";
  records[3]["cost"] = nullptr;
  means = means_over_seeds(records);
  EXPECT_EQ(choose(means, kRule).why[0], (std::vector<std::string>{"it is not done"}));
  EXPECT_EQ(choose(means, kRule).why[1], (std::vector<std::string>{"it has no cost"}));
}

TEST(Front, KeepsBounds) {
  CaseRule rule = kRule;
  rule.at_most = {{"refit_time_s.mean", 5}};
  Json failed = record(0, 0);
  failed["status"] = "failed";
  Json without = record(0, 0);
  without.erase("cost");
  const CaseChoice found = choose({record(1, 1, 6), record(2, 2, 5), failed, without}, rule);
  EXPECT_EQ(found.front, (std::vector<std::size_t>{1}));
  EXPECT_EQ(found.why[0], (std::vector<std::string>{"refit_time_s.mean is 6, not at most 5"}));
  EXPECT_EQ(found.why[2], (std::vector<std::string>{"it is not done"}));
  EXPECT_EQ(found.why[3], (std::vector<std::string>{"it has no cost"}));
  rule.at_most["cost"] = 1;
  EXPECT_FALSE(choose({record(2, 2, 5)}, rule).choice);
}

TEST(Front, ARuleHasDefaultsAndIsChecked) {
  EXPECT_EQ(choice_rule({{"rollouts", Json::object()}}).prefer, "simulated_time_s");
  EXPECT_EQ(choice_rule({{"rollouts", Json::object()}}).beside, "refit_time_s.mean");
  EXPECT_EQ(choice_rule({{"rollouts", {{"prices", Json::object()}}}}).prefer, "cost");
  EXPECT_EQ(choice_rule({{"plan", {{"at_most", {{"cost", 3}}}}}}).at_most.at("cost"), 3);
  EXPECT_SAYS(said_by([] { choice_rule({{"plan", {{"prefer", "samples_per_s"}}}}); }), "plan.prefer: found");
  EXPECT_SAYS(said_by([] { choice_rule({{"plan", {{"at_most", {{"coste", 3}}}}}}); }), "plan.at_most.coste");
}

}  // namespace longhaul::front_test
