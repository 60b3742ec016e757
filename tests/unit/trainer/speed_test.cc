#include "trainer/speed.h"

#include "tests/unit/trainer/support.h"

namespace longhaul::speed_test {

using std::chrono::milliseconds;

constexpr ModelShape kShape{3, 1, 1, 5, 7, 4};

// By hand: 2·3·4 embedding and output, a layer of 4·3² + 3·3·5 + 2·3, a norm of 3; attention 6·1·3·7.
TEST(SpeedOfATraining, CountsParametersAndAttention) {
  ASSERT_EQ(kShape.parameters(), 114);
  EXPECT_EQ(flop_per_token(kShape), 6. * 114 + 6. * 21);
}

TEST(SpeedOfATraining, IsThatOfTheLastSecond) {
  Speed speed;
  speed.begin();
  const auto start = Speed::Clock::now();
  speed.reached(500, start + milliseconds(900));
  EXPECT_FALSE(speed.tokens_per_second());
  speed.reached(1000, start + milliseconds(2000));
  ASSERT_TRUE(speed.tokens_per_second());
  EXPECT_NEAR(*speed.tokens_per_second(), 500, 1);
  speed.reached(4000, start + milliseconds(3500));
  EXPECT_NEAR(*speed.tokens_per_second(), 2000, 1);
}

TEST(SpeedOfATraining, LeavesEvaluationsAndCheckpointsOutOfTheSteps) {
  Speed speed;
  speed.begin();
  const auto start = Speed::Clock::now();
  speed.reached(6000, start + milliseconds(4000));
  speed.evaluations_s = 0.5;
  speed.checkpoints_s = 0.5;
  const Json json = speed.summary(kShape, 3, 1e7, start + milliseconds(4000));
  EXPECT_NEAR(json["tokens_per_s"].get<double>(), 1500, 1);
  EXPECT_NEAR(json["tokens_per_s_in_steps"].get<double>(), 2000, 1);
  EXPECT_NEAR(json["utilization"].get<double>(), 2000 * 810 / 1e7, 1e-3);
  EXPECT_FALSE(speed.summary(kShape, 3, std::nullopt).contains("utilization"));
}

TEST(SpeedOfATraining, KnowsCardsByTheirNames) {
  EXPECT_EQ(peak_flop_per_second("NVIDIA H100 80GB HBM3", Precision::kBf16), 989e12);
  EXPECT_EQ(peak_flop_per_second("NVIDIA H100 PCIe", Precision::kBf16), 756e12);
  EXPECT_EQ(peak_flop_per_second("NVIDIA A100-SXM4-80GB", Precision::kFloat32), 19.5e12);
  EXPECT_FALSE(peak_flop_per_second("GeForce 256", Precision::kFloat32));
}

// training.json is the same in every run; what the clock says stands apart.
TEST(SpeedOfATraining, IsAFileOfItsOwn) {
  const auto& [folder, config] = CaseInFolder(small_scenario({{"name", "diloco"}, {"inner_steps", 3}}, 6));
  const Trained trained = train(config, folder);
  const Json speed = Json::parse(read_text(folder.file("out/speed.json")));
  EXPECT_EQ(speed["steps"], 6);
  EXPECT_EQ(speed["tokens"], trained.summary["tokens"]);
  EXPECT_GT(speed["tokens_per_s_in_steps"].get<double>(), speed["tokens_per_s"].get<double>());
  EXPECT_FALSE(speed.contains("utilization")) << "the peak of a processor is not known";
}

}  // namespace longhaul::speed_test
