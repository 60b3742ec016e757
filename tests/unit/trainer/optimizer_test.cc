#include <cmath>

#include "tests/unit/trainer/support.h"
#include "trainer/optimizer/adamw.h"

namespace longhaul::optimizer_test {

TEST(Adamw, FollowsTheHandWorkedHistory) {
  const Json history = golden("adamw.json");
  const OptimizerSpec spec = parse_optimizer(history["optimizer"], 10, "optimizer");
  float theta = history["start"], m = 0, v = 0;
  int step = 0;
  for (const Json& entry : history["steps"]) {
    const float gradient = entry["gradient"];
    adamw_step(spec, spec.lr, ++step, 1, {{0, 1, true}}, {&theta, &gradient, &m, &v});
    EXPECT_NEAR(theta, entry["theta"].get<double>(), 2e-7) << "step " << step;
  }
}

TEST(Adamw, ColumnsThatDoNotDecayAreOnlyMovedByTheGradient) {
  OptimizerSpec spec;
  spec.weight_decay = 0.5;
  std::vector<float> theta(40, 1), gradient(40, 0), m(40), v(40);
  adamw_step(spec, 0.1, 1, 1, {{0, 20, true}, {20, 40, false}},
             {theta.data(), gradient.data(), m.data(), v.data()});
  for (int i = 0; i < 40; ++i) EXPECT_FLOAT_EQ(theta[static_cast<std::size_t>(i)], i < 20 ? 0.95f : 1.f);
}

TEST(Clip, NormIsEuclideanAndTheFactorBringsItDown) {
  std::vector<float> row(1000, 0.f);
  row[3] = 3;
  row[999] = -4;
  EXPECT_DOUBLE_EQ(row_norm(row.data(), 1000), 5);
  EXPECT_DOUBLE_EQ(clip_factor(5, 1), 0.2);
  EXPECT_DOUBLE_EQ(clip_factor(5, 6), 1);
  EXPECT_DOUBLE_EQ(clip_factor(5, 0), 1);
  EXPECT_TRUE(std::isnan(clip_factor(INFINITY, 1)));
}

TEST(LearningRate, WarmsUpLinearlyAndFallsAlongACosine) {
  OptimizerSpec spec;
  spec.lr = 1;
  spec.min_lr = 0.1;
  spec.warmup = 10;
  for (const auto& [step, expected] : {std::pair{1, 0.1}, {5, 0.5}, {10, 1.}, {110, 0.1}})
    EXPECT_DOUBLE_EQ(learning_rate(spec, step, 110), expected) << step;
  EXPECT_NEAR(learning_rate(spec, 60, 110), 0.55, 1e-12);  // half-way: the mean of lr and min_lr
  spec.warmup = 0;
  EXPECT_NEAR(learning_rate(spec, 1, 2), 0.55, 1e-12);
}

}  // namespace longhaul::optimizer_test
