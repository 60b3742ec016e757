// Payloads that no kernel takes: two fragments, compressed to their largest columns with what was left out
// kept (tests/toy_method), go through host memory and back, and leave what a training on the CPU leaves.
#include <gtest/gtest.h>

#include "tests/unit/trainer/compared_trainings.h"
#include "tests/unit/trainer/stacked_support.h"

namespace longhaul::compressed_test {

Trained train_on(Device device, std::unique_ptr<Backend> backend, const Json& scenario) {
  const TemporaryFolder folder;
  return train_with(only_case(scenario, folder), folder, device, std::move(backend));
}

TEST(Compressed, FragmentsGoThroughHostMemoryAndBack) {
  Json scenario = small_scenario({{"name", "toy-fragments"}, {"inner_steps", 4}, {"overlap", 2}}, 12);
  scenario["workload"] = {{"wire", "fp32"}};
  const Trained cpu = train_on(Device::kCpu, make_loop_backend(), scenario),
                gpu = train_on(Device::kCuda, make_stacked_backend(make_loop_backend()), scenario);
  EXPECT_EQ(gpu.exchanges, cpu.exchanges) << "the same bytes are moved at the same steps";
  expect_losses(gpu, cpu, 1e-3, "in fragments");

  // Without exchanges the losses are others: the rows that the step changed did come back to the device.
  scenario["methods"] = {{{"name", "independent"}}};
  const Trained alone = train_on(Device::kCuda, make_stacked_backend(make_loop_backend()), scenario);
  const double last = losses_in(gpu.metrics).back();
  EXPECT_GT(std::abs(losses_in(alone.metrics).back() - last), 1e-2 * last);
}

}  // namespace longhaul::compressed_test
