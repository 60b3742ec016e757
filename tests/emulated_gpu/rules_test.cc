// What the emulated card refuses as a real one would: it would be no test of the trainer without.
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "core/base/errors.h"
#include "tests/emulated_gpu/device_memory.h"
#include "trainer/cuda/captured_work.h"
#include "trainer/cuda/device_table.h"
#include "trainer/device/device.h"
#include "trainer/model/packs.h"

namespace longhaul::rules_test {

// While it lives.
struct WithoutParts {
  explicit WithoutParts(const char* words) { setenv("LONGHAUL_GPU", words, 1); }
  ~WithoutParts() { unsetenv("LONGHAUL_GPU"); }
};

TEST(EmulatedCard, RefusesVectorsThatAreNotAligned) {
  alignas(16) float numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(Pack<4>::read(numbers + 4).at[3], 8);
  EXPECT_THROW(Pack<4>::read(numbers + 1), std::logic_error);
  EXPECT_EQ((read_pack<4>(numbers)[1]), 2);
  EXPECT_THROW(read_pack<4>(numbers + 2), std::logic_error);
  EXPECT_THROW(write_pack<2>(numbers + 1, Floats<2>{}), std::logic_error);
}

TEST(EmulatedCard, EndsAKernelBehindATablesEnd) {
  const DeviceTable<float> table(100);  // 400 bytes are 25 accesses of 16
  const emulated::DeviceAtWork at_work;
  table.get()[99] = 1;
  EXPECT_DEATH(const_cast<volatile float*>(table.get())[100] = 1, "");
}

TEST(EmulatedCard, CapturedWorkWaitsForNothing) {
  const auto third_call = [](bool captures, const auto& work) {
    CapturedWork graph(captures);
    graph.run([] {});
    graph.run([] {});
    graph.run(work);
  };
  const auto waits = [] { wait_for_device(); };
  EXPECT_THROW(third_call(true, waits), std::logic_error);
  EXPECT_THROW(third_call(true, [] { DeviceTable<float>(10); }), std::logic_error);
  EXPECT_NO_THROW(third_call(false, waits));
  const WithoutParts none("noflash,nograph");
  EXPECT_NO_THROW(third_call(true, waits));
}

TEST(GpuParts, AreLeftOutByName) {
  const WithoutParts none("noflash,nolt");
  EXPECT_FALSE(uses(GpuPart::kFlash));
  EXPECT_FALSE(uses(GpuPart::kLt));
  EXPECT_TRUE(uses(GpuPart::kGraph));
  const WithoutParts misspelt("nolt,nofash");
  EXPECT_THROW(uses(GpuPart::kLt), InputError);
}

}  // namespace longhaul::rules_test
