// Payloads that no kernel takes: two fragments, compressed to their largest columns with what was left out
// kept (tests/toy_method), go through host memory and back, and leave what a training on the CPU leaves.
#include <cmath>

#include "tests/unit/trainer/compared_trainings.h"

namespace longhaul::compressed_test {

TEST(Compressed, FragmentsGoThroughHostMemoryAndBack) {
  Json scenario = small_scenario({{"name", "toy-fragments"}, {"inner_steps", 4}, {"overlap", 2}}, 12, "fp32");
  const Trained cpu = train(scenario), gpu = stacked_on_gpu(scenario);
  EXPECT_EQ(gpu.exchanges, cpu.exchanges) << "the same bytes are moved at the same steps";
  expect_losses(gpu, cpu, 1e-3, "in fragments");

  // Without exchanges the losses are others: the rows that the step changed did come back to the device.
  scenario["methods"] = {{{"name", "independent"}}};
  const Trained alone = stacked_on_gpu(scenario);
  const double last = losses_in(gpu.metrics).back();
  EXPECT_GT(std::abs(losses_in(alone.metrics).back() - last), 1e-2 * last);
}

}  // namespace longhaul::compressed_test
