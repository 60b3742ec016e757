// What is set up before a GPU is used, as far as it needs none.
#include "trainer/device/device.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/support/said.h"

namespace longhaul::device_test {

constexpr const char* kWorkspaces = "CUBLAS_WORKSPACE_CONFIG";

std::string set_up_with(const char* wanted) {
  unsetenv(kWorkspaces);
  if (wanted) setenv(kWorkspaces, wanted, 1);
  use_repeatable_cublas();
  return std::getenv(kWorkspaces);
}

// NVIDIA's documentation of cuBLAS names these two, "Results reproducibility".
TEST(RepeatableCublas, TakesOneOfTheTwoSettingsAndRefusesAnother) {
  EXPECT_EQ(set_up_with(nullptr), ":4096:8");
  EXPECT_EQ(set_up_with(":16:8"), ":16:8");
  EXPECT_EQ(set_up_with(":4096:8"), ":4096:8");
  const InputError error = thrown_by([&] { set_up_with(":4096:2:16:8"); });
  EXPECT_EQ(error.parts().path, kWorkspaces);
  EXPECT_SAYS(error.parts().found, ":4096:2:16:8");
  unsetenv(kWorkspaces);
}

}  // namespace longhaul::device_test
