// Merges of one weight, by hand; and what a contribution counts.
#include "trainer/merges.h"

#include <gtest/gtest.h>

#include "tests/unit/trainer/support.h"
#include "trainer/operations/exchange_log.h"

namespace longhaul {
namespace {

// Steps since the contribution before to the same rule: at first all.
TEST(TokenShares, AreOfWhatWasTrainedSinceTheLastContribution) {
  std::map<std::pair<int, int>, int> posted;
  EXPECT_EQ(token_shares({0, 0, {{0, 5, 8}, {1, 5, 9}}}, posted), (std::vector<float>{0.5F, 0.5F}));
  EXPECT_EQ(token_shares({1, 0, {{0, 3, 5}}}, posted), (std::vector<float>{1})) << "another rule";
  EXPECT_EQ(token_shares({0, 1, {{0, 15, 0}, {1, 10, 0}, {2, 5, 0}}}, posted),
            (std::vector<float>{0.5F, 0.25F, 0.25F}));
}

// η 0.5, μ 0.8, α 0.25; φ = 10. Replicas 0 and 1 contribute Δ = 1 and 3 after two steps each; replica 2,
// which is late, −0.3 to the second merge, after two steps, with replica 0's Δ of four.
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

  OneWeight() {
    for (int replica = 0; replica < 3; ++replica)
      *arena_.row(Slot::kWeights, replica) = *arena_.row(Slot::kSlowWeights, replica) = 10;
    merges_ = std::make_unique<Merges>(plan_, context_, schedule_, *update_, replicas_);
  }
  float& theta(int replica) { return *arena_.row(Slot::kWeights, replica); }
  float phi(int replica) const { return *arena_.row(Slot::kSlowWeights, replica); }

  const OperationPlan plan_ = plan();
  const PlanContext context_{1, 3, 8, 1};
  const Schedule schedule_{{{0, 0, {{0, 2, 3}, {1, 2, 4}}}, {0, 1, {{0, 6, 7}, {2, 2, 3}}}}, {}};
  const std::unique_ptr<Update> update_ =
      make_update({"decoupled-diloco", "", {{"outer_lr", 0.5}, {"outer_momentum", 0.8}, {"mixing", 0.25}}});
  Arena arena_{slots_with(update_->rows()), 3, 1};
  const std::unique_ptr<Backend> backend_ = make_loop_backend();
  ExchangeLog log_;
  Replicas replicas_{arena_, *backend_, log_};
  std::unique_ptr<Merges> merges_;
};

TEST_F(OneWeight, MergesByTokensAndTakesALateContribution) {
  theta(0) = 11;
  merges_->post(0, 2);
  EXPECT_FALSE(merges_->make()) << "replica 1 is not there";
  EXPECT_FALSE(merges_->is_there(0, 3));
  theta(1) = 13;
  merges_->post(1, 2);
  EXPECT_TRUE(merges_->make());
  EXPECT_TRUE(merges_->is_there(0, 3));
  EXPECT_FALSE(merges_->is_there(2, 3));
  theta(0) = 11.5;
  merges_->take_up(0, 3);  // Δ̄ = 2, v = 2, φ = 10 + 0.5 (2 + 0.8 · 2) = 11.8
  EXPECT_FLOAT_EQ(phi(0), 11.8F);
  EXPECT_FLOAT_EQ(theta(0), 0.25F * 11.5F + 0.75F * 11.8F);
  EXPECT_EQ(phi(1), 10) << "not yet";

  theta(0) = 12.8F;
  merges_->post(0, 6);
  theta(2) = 9.7F;
  merges_->post(2, 2);
  EXPECT_TRUE(merges_->make());
  theta(1) = 14;
  merges_->take_up(1, 4);
  EXPECT_FLOAT_EQ(phi(1), 11.8F) << "what it contributed to, though there is a newer one";
  EXPECT_FLOAT_EQ(theta(1), 0.25F * 14 + 0.75F * 11.8F);
  theta(2) = 9.6F;
  merges_->take_up(2, 3);
  // Δ̄ = 2/3 · 1 − 1/3 · 0.3 = 0.56667, v = 0.8 · 2 + Δ̄ = 2.16667, φ = 11.8 + 0.5 (Δ̄ + 0.8 v) = 12.95
  EXPECT_NEAR(phi(2), 12.95, 1e-5);
  EXPECT_NEAR(theta(2), 0.25 * 9.6 + 0.75 * 12.95, 1e-5);
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
  from_made.restore(made, 1, [](int replica, int step) { return step <= (replica == 0 ? 3 : 2); });
  from_made.take_up(1, 4);
  EXPECT_FLOAT_EQ(phi(1), 11.8F);
}

}  // namespace
}  // namespace longhaul
