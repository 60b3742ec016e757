// Merges of one weight, by hand; and what a contribution counts.
#include "trainer/merges.h"

#include <gtest/gtest.h>

#include "tests/unit/trainer/support.h"
#include "trainer/operations/exchange_log.h"

namespace longhaul {
namespace {

// Steps since the contribution before to the same rule: at first all.
TEST(TokenShares, AreOfWhatWasTrainedSinceTheLastContribution) {
  Schedule schedule;
  schedule.merges = {
      {0, 0, {{0, 5, 8}, {1, 5, 9}}}, {1, 0, {{0, 3, 5}}}, {0, 1, {{0, 15, 0}, {1, 10, 0}, {2, 5, 0}}}};
  EXPECT_EQ(token_shares(schedule),
            (std::vector<std::vector<float>>{{0.5F, 0.5F}, {1}, {0.5F, 0.25F, 0.25F}}));
}

// Replica 0 posts after steps 5, 10 and 15. Replica 1 does not take steps 3 and 4: 8 of 10. Replica 2 begins
// step 13 with what 0 had after step 11, a step after its contribution: that one, and its own three. Replica
// 3 begins step 14 with what 2 then has: one of 0, one of 2, and its own two.
TEST(TokenShares, OfCopiesAreTheirOwnStepsAndThoseOfTheSourceSinceItContributed) {
  Schedule schedule;
  schedule.has_all = true;
  schedule.absences =
      Absences({{1, 3, 2, -1, 0, 5}, {2, 2, 1, 0, 11, 13}, {3, 8, 7, 2, 13, 14}}, {1, 4, 20, 1}, false);
  schedule.merges = {{0, 0, {{0, 5, 7}, {1, 10, 11}}},
                     {0, 1, {{0, 10, 12}}},
                     {0, 2, {{0, 15, 16}, {2, 15, 16}, {3, 15, 16}}}};
  const std::vector<std::vector<float>> shares = token_shares(schedule);
  EXPECT_EQ(shares[0], (std::vector<float>{5.F / 13, 8.F / 13}));
  EXPECT_EQ(shares[2], (std::vector<float>{5.F / 13, 4.F / 13, 4.F / 13}));
}

// Three replicas of one weight, as tests/golden/decoupled_diloco.json has them.
class OneWeight : public testing::Test {
 protected:
  static OperationPlan plan() {
    OperationRule rule;
    rule.name = "fragment-0";
    rule.kind = OperationKind::kMerge;
    rule.every = 2;
    rule.overlap_steps = 1;
    rule.payload = whole({"delta"}, Wire::kFp32);
    rule.answer = whole({"phi"}, Wire::kFp32);
    return {{rule}};
  }
  static Schedule schedule(const Json& history) {
    Schedule made;
    for (const Json& entry : history["merges"]) {
      Merge merge{0, static_cast<int>(made.merges.size()), {}};
      for (const Json& made_by : entry["contributions"])
        merge.contributions.push_back({made_by["replica"], made_by["post_step"], made_by["taken_step"]});
      made.merges.push_back(merge);
    }
    return made;
  }

  OneWeight() {
    for (int replica = 0; replica < 3; ++replica)
      *arena_.row(Slot::kWeights, replica) = *arena_.row(Slot::kSlowWeights, replica) =
          history_["start"]["phi"];
    merges_ = std::make_unique<Merges>(plan_, context_, schedule_, *update_, replicas_);
  }
  float& theta(int replica) { return *arena_.row(Slot::kWeights, replica); }
  float phi(int replica) const { return *arena_.row(Slot::kSlowWeights, replica); }
  void post(const Json& entry) {
    theta(entry["replica"]) = entry["posted"];
    merges_->post(entry["replica"], entry["post_step"]);
  }
  void take_up(const Json& entry) {
    theta(entry["replica"]) = entry["theta"];
    merges_->take_up(entry["replica"], entry["taken_step"]);
    EXPECT_FLOAT_EQ(theta(entry["replica"]), entry["after"].get<float>()) << entry;
  }

  const Json history_ = golden("decoupled_diloco.json");
  const OperationPlan plan_ = plan();
  const PlanContext context_{1, 3, 8, 1};
  const Schedule schedule_ = schedule(history_);
  const std::unique_ptr<Update> update_ = make_update({"decoupled-diloco", "", history_["method"]});
  Arena arena_{slots_with({"slow_weights"}), 3, 1};
  const std::unique_ptr<Backend> backend_ = make_loop_backend();
  ExchangeLog log_;
  Replicas replicas_{arena_, *backend_, log_};
  std::unique_ptr<Merges> merges_;
};

// The second merge is made before replica 1 takes up the first, and it gets what it contributed to.
TEST_F(OneWeight, MergesByTokensAndTakesALateContribution) {
  const Json &first = history_["merges"][0], &second = history_["merges"][1];
  post(first["contributions"][0]);
  EXPECT_FALSE(merges_->make()) << "replica 1 is not there";
  EXPECT_FALSE(merges_->is_there(0, 3));
  post(first["contributions"][1]);
  EXPECT_TRUE(merges_->make());
  EXPECT_TRUE(merges_->is_there(0, 3));
  EXPECT_FALSE(merges_->is_there(2, 3));
  take_up(first["contributions"][0]);
  EXPECT_FLOAT_EQ(phi(0), first["phi"].get<float>());
  EXPECT_EQ(phi(1), 10) << "not yet";

  for (const Json& entry : second["contributions"]) post(entry);
  EXPECT_TRUE(merges_->make());
  take_up(first["contributions"][1]);
  EXPECT_FLOAT_EQ(phi(1), first["phi"].get<float>());
  for (const Json& entry : second["contributions"]) {
    take_up(entry);
    EXPECT_FLOAT_EQ(phi(entry["replica"]), second["phi"].get<float>());
  }
  EXPECT_FALSE(merges_->make());
}

TEST_F(OneWeight, LogsWhoContributed) {
  merges_->post(0, 2);
  merges_->post(1, 2);
  merges_->make();
  ASSERT_EQ(log_.records().size(), 1u);
  EXPECT_EQ(log_.records()[0].groups, (std::vector<std::vector<int>>{{0, 1}}));
  EXPECT_EQ(log_.records()[0].bytes, 4);
}

// Cut after the first contribution, and after the first merge: what is kept is enough for the same end.
TEST_F(OneWeight, GoesOnFromWhatIsKept) {
  const auto kept = [&](const std::string& file) { write_safetensors(file, merges_->tensors()); };
  const TemporaryFolder folder;
  theta(0) = 11;
  merges_->post(0, 2);
  kept(folder.file("posted"));
  theta(1) = 13;
  merges_->post(1, 2);
  merges_->make();
  theta(0) = 11.5;
  merges_->take_up(0, 3);
  kept(folder.file("made"));

  Merges from_posted(plan_, context_, schedule_, *update_, replicas_);
  SafetensorsFile posted(folder.file("posted"));
  from_posted.restore(posted, 0, [](int replica, int step) { return replica == 0 && step <= 2; });
  *arena_.row(Slot::kSlowWeights, 1) = 10;
  theta(1) = 13;
  from_posted.post(1, 2);
  EXPECT_TRUE(from_posted.make());
  theta(0) = 11.5;
  from_posted.take_up(0, 3);
  EXPECT_FLOAT_EQ(phi(0), 11.8F);

  Merges from_made(plan_, context_, schedule_, *update_, replicas_);
  SafetensorsFile made(folder.file("made"));
  from_made.restore(made, 1, [](int replica, int step) { return step <= 3 - replica; });  // 2 has not posted
  from_made.take_up(1, 4);
  EXPECT_FLOAT_EQ(phi(1), 11.8F);
}

}  // namespace
}  // namespace longhaul
