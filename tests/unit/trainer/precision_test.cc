// Whole trainings with bf16 products, on the CPU.
#include <cmath>

#include "core/base/errors.h"
#include "methods/common/registry.h"
#include "tests/support/every_method.h"
#include "tests/unit/trainer/compared_trainings.h"

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

TEST(Precisions, PrecisionIsPartOfTheTrainingKeyAndFloat32IsTheKeyThereWas) {
  const TemporaryFolder folder;
  const Json scenario = small_scenario({{"name", "ddp"}});
  Json narrow = scenario;
  narrow["train"]["precision"] = "bf16";
  Case config = only_case(scenario, folder);
  const std::string key = training_key(config);
  EXPECT_NE(training_key(only_case(narrow, folder)), key);
  config.resolved["train"].erase("precision");  // as resolved before there was a choice
  EXPECT_EQ(training_key(parse_case(config.resolved)), key);
}

}  // namespace longhaul::precision_test
