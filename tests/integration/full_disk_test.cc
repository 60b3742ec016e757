// A disk that fills up in a training: the summary and the report cannot be written either, but what one has
// to read is what the training said; and once there is space, the run goes on.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/integration/command.h"
#include "tests/support/said.h"
#include "tests/support/small_disk.h"

namespace longhaul::full_disk_test {

TEST(FullDisk, TheTrainingsMessageIsSaidAndTheRunGoesOnOnceThereIsSpace) {
  constexpr std::size_t kBytes = 64 << 20, kLeft = 200 << 10;
  const std::string folder = fresh_folder("full_disk"), out = folder + "/run", filler = folder + "/filler";
  std::filesystem::create_directories(folder);
  const SmallDisk disk(folder, kBytes);
  if (!disk.mounted()) GTEST_SKIP() << "only root mounts";
  write_text(filler, std::string(kBytes - kLeft, 'x'));
  const CommandResult full = longhaul({"run", scenario_file("small.json"), "--out", out, "--quiet"});
  EXPECT_EQ(full.status, 1) << full.err;
  EXPECT_SAYS(full.err, "failed: ");
  EXPECT_SAYS(full.err, ".safetensors: cannot be written: No space left on device");
  std::filesystem::remove(filler);
  const CommandResult resumed =
      longhaul({"run", scenario_file("small.json"), "--out", out, "--quiet", "--resume"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_TRUE(std::filesystem::exists(out + "/report.html"));
}

}  // namespace longhaul::full_disk_test
