// Whole trainings with a stacked back-end and with bf16 products, on the CPU.
#include <cmath>

#include "core/base/errors.h"
#include "methods/common/registry.h"
#include "tests/support/every_method.h"
#include "tests/unit/trainer/compared_trainings.h"

namespace longhaul::stacked_training_test {

Trained stacked(const Json& scenario, int threads = 2) {
  const TemporaryFolder folder;
  return train_with(only_case(scenario, folder), folder, Device::kCpu,
                    make_stacked_backend(make_thread_backend(threads, use_one_torch_thread)));
}

TEST(StackedTraining, AfterOneStepLossesAreThoseOfTheLoopTo1e5) {
  for (const Json& method : every_method(1)) {
    Json scenario = small_scenario(method, 1);
    scenario["workload"] = {{"wire", "fp32"}};
    const Trained loop = train(scenario), stack = stacked(scenario);
    const std::vector<double> expected = losses_in(loop.metrics), found = losses_in(stack.metrics);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 1e-5 * expected[i]) << method << ", line " << i;
    EXPECT_EQ(stack.exchanges, loop.exchanges);
  }
}

TEST(StackedTraining, SameBitsOnAnyNumberOfThreads) {
  const Json scenario = small_scenario({{"name", "noloco"}, {"inner_steps", 4}});
  const std::string text = stacked(scenario, 1).metrics;
  for (const int threads : {2, 3}) EXPECT_EQ(stacked(scenario, threads).metrics, text) << threads;
}

TEST(StackedTraining, SaysHowItComputed) {
  Json scenario = small_scenario({{"name", "ddp"}}, 2);
  EXPECT_EQ(stacked(scenario).summary["backend"], "stacked");
  EXPECT_EQ(train(scenario).summary["backend"], "loop");
  EXPECT_EQ(train(scenario, 2).summary["backend"], "threads");
  EXPECT_EQ(train(scenario).summary["precision"], "float32");
  scenario["train"]["precision"] = "bf16";
  EXPECT_EQ(train(scenario).summary["precision"], "bf16");
}

TEST(StackedTraining, InBf16EveryBackendLearnsTheSourceAsInFloat32) {
  Json scenario = small_scenario({{"name", "noloco"}, {"inner_steps", 4}}, 60);
  const double exact = train(scenario).summary["final_loss"];
  scenario["train"]["precision"] = "bf16";
  const double loop = train(scenario).summary["final_loss"], stack = stacked(scenario).summary["final_loss"];
  EXPECT_NE(loop, exact);
  EXPECT_NEAR(loop, exact, 0.02 * exact);
  EXPECT_NEAR(stack, exact, 0.02 * exact);
}

TEST(StackedTraining, PrecisionIsPartOfTheTrainingKeyAndFloat32IsTheKeyThereWas) {
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

TEST(StackedTraining, AnotherArithmeticDoesNotResumeACheckpoint) {
  const TemporaryFolder folder;
  const Case config = only_case(small_scenario({{"name", "ddp"}}), folder);
  train(config, folder);
  train(config, folder, 2, true);  // loop and threads make the same bits
  EXPECT_THROW(train_with(config, folder, Device::kCpu, make_stacked_backend(make_loop_backend()), true),
               InputError);
}

}  // namespace longhaul::stacked_training_test
