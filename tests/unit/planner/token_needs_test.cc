#include "planner/token_needs.h"

#include <gtest/gtest.h>

#include "analysis/runs/run_directory.h"
#include "tests/support/said.h"
#include "tests/unit/planner/in_process.h"

namespace longhaul::token_needs_test {

// From 3.0 at 100 tokens to 2.0 at 200: 2.25 three quarters of the way.
TEST(TokenNeeds, AreReadFromTheStraightLineBetweenEvaluations) {
  const std::vector<std::pair<double, double>> curve = {{100, 3.0}, {200, 2.0}, {300, 2.5}};
  EXPECT_DOUBLE_EQ(tokens_to(2.25, curve), 175);
  EXPECT_DOUBLE_EQ(tokens_to(3.5, curve), 100);
  EXPECT_DOUBLE_EQ(tokens_to(1.9, curve), 0) << "never";
}

class TokenNeedsOfRuns : public testing::Test {
 protected:
  // Cases of 10 steps and 1000 tokens, evaluated at steps 5 and 10.
  void SetUp() override {
    std::vector<Json> records;
    for (const auto& [name, method, at_5, at_10] : {std::tuple("ddp", "ddp", 2.0, 1.0),
                                                    {"diloco,seed=1", "diloco", 3.0, 2.0},
                                                    {"diloco,seed=2", "diloco", 2.5, 2.0},
                                                    {"noloco", "noloco", 4.0, 3.0}}) {
      folder_.write(std::string("cases/") + name + "/metrics.csv",
                    "step,phase,replica,simulated_s,loss,loss_of_mean,weight_spread,bytes_sent\n" +
                        std::string("5,plain,0,1,9,,,0\n5,plain,mean,1,") + std::to_string(at_5) +
                        ",1,0,0\n10,plain,mean,2," + std::to_string(at_10) + ",1,0,0\n");
      records.push_back({{"case", name}, {"status", "done"}, {"method", method}, {"tokens", 1000}});
    }
    write_summary(folder_.path, "runs", records);
    json_ = Json::parse(R"({"nodes": 2, "parameters": 100, "tokens_per_step": 10, "step_time": "1s",
      "target": {"runs": ["."], "loss": 2.0},
      "network": {"topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}}})");
  }

  TokenNeeds needs() { return token_needs(plan_of_json(folder_, json_), {"ddp", "diloco", "noloco", "dgc"}); }

  PlanFolder folder_;
  Json json_;
};

// ddp is there at step 5 of 10, both diloco at 10; noloco never, dgc has no curve. All scale with the plan.
TEST_F(TokenNeedsOfRuns, AreTheTokensAtTheTarget) {
  const TokenNeeds found = needs();
  EXPECT_EQ(found.of_method, (std::map<std::string, std::int64_t>{{"ddp", 500}, {"diloco", 1000}}));
  ASSERT_EQ(found.notes.size(), 2u);
  EXPECT_SAYS(found.notes[0], "noloco is left out: it did not get to a loss of 2");
  EXPECT_SAYS(found.notes[1], "dgc is left out: the runs have no curve");
  json_["tokens"] = 70000;
  EXPECT_EQ(needs().of_method, (std::map<std::string, std::int64_t>{{"ddp", 70000}, {"diloco", 140000}}));
}

TEST_F(TokenNeedsOfRuns, AreAnErrorWhereNoMethodGotThere) {
  json_["target"]["loss"] = 0.5;
  EXPECT_THROW(needs(), InputError);
  json_["target"]["runs"] = {"nowhere"};
  EXPECT_THROW(needs(), InputError);
}

}  // namespace longhaul::token_needs_test
