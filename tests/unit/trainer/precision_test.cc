// Whole trainings with bf16 products, on the CPU.
#include "tests/unit/trainer/support.h"

namespace longhaul::precision_test {

TEST(Precisions, InBf16TheSourceIsLearnedAsInFloat32) {
  Json scenario = small_scenario({{"name", "noloco"}, {"inner_steps", 4}}, 60);
  const Json exact = train(scenario).summary;
  scenario["train"]["precision"] = "bf16";
  const Json narrow = train(scenario).summary;
  EXPECT_EQ(exact["precision"], "float32");
  EXPECT_EQ(narrow["precision"], "bf16");
  EXPECT_NE(narrow["final_loss"], exact["final_loss"]);
  EXPECT_NEAR(narrow["final_loss"], exact["final_loss"], 0.02 * exact["final_loss"].get<double>());
}

}  // namespace longhaul::precision_test
