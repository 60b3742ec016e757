// Whole trainings with bf16 products, on the CPU.
#include "tests/unit/trainer/support.h"

namespace longhaul::precision_test {

TEST(Precisions, SaysHowItComputed) {
  Json scenario = small_scenario({{"name", "ddp"}}, 2);
  EXPECT_EQ(train(scenario).summary["backend"], "loop");
  EXPECT_EQ(train(scenario, 2).summary["backend"], "threads");
  EXPECT_EQ(train(scenario).summary["precision"], "float32");
  scenario["train"]["precision"] = "bf16";
  EXPECT_EQ(train(scenario).summary["precision"], "bf16");
}

TEST(Precisions, InBf16TheSourceIsLearnedAsInFloat32) {
  Json scenario = small_scenario({{"name", "noloco"}, {"inner_steps", 4}}, 60);
  const double exact = train(scenario).summary["final_loss"];
  scenario["train"]["precision"] = "bf16";
  const double loop = train(scenario).summary["final_loss"];
  EXPECT_NE(loop, exact);
  EXPECT_NEAR(loop, exact, 0.02 * exact);
}

}  // namespace longhaul::precision_test
