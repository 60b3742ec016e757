// What a machine does not have. A limit on the address space (ulimit -v), as batch systems set it: a training
// that cannot have what it needs says so and ends. Without the checks OpenBLAS asks for memory for ever.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/integration/command.h"
#include "tests/support/said.h"
#include "tests/support/small_disk.h"

namespace longhaul::limits_test {

// 137: it did not end by itself.
CommandResult run_under_limit(int kilobytes, const std::string& more = "") {
  return shell("ulimit -v " + std::to_string(kilobytes) + "; timeout -s KILL 60 $B/longhaul run '" +
               scenario_file("small.json") + "' --out '" + fresh_folder("limited") + "/run' " + more);
}

bool is_limited() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;  // their shadows are terabytes
#else
  return false;
#endif
}

TEST(AddressSpace, ARunSaysThatTheTrainingDoesNotFit) {
  if (is_limited()) GTEST_SKIP();
  const CommandResult run = run_under_limit(200000);
  EXPECT_EQ(run.status, 2) << run.err;
  EXPECT_SAYS(run.err, "train: the address space of a process is limited to 205 MB here (ulimit -v)");
}

// What needs LibTorch takes more: `check` knows of bf16, and the trainer of the variable. A limit that is
// enough is enough.
TEST(AddressSpace, LibTorchIsCounted) {
  if (is_limited()) GTEST_SKIP();
  const std::string short_one = "--set train.steps=10";
  const CommandResult bf16 = run_under_limit(700000, short_one + " --set train.precision=bf16");
  EXPECT_EQ(bf16.status, 2) << bf16.err;
  EXPECT_SAYS(bf16.err, "(ulimit -v)");
  setenv("LONGHAUL_PRODUCTS", "tensors", 1);
  const CommandResult tensors = run_under_limit(700000, short_one);
  unsetenv("LONGHAUL_PRODUCTS");
  EXPECT_EQ(tensors.status, 1) << tensors.err;
  EXPECT_SAYS(tensors.out + tensors.err, "libraries of LibTorch");
  EXPECT_EQ(run_under_limit(700000, short_one).status, 0);
}

// A disk that fills up in a training: the summary and the report cannot be written either, but what one has
// to read is what the training said; and once there is space, the run goes on.
TEST(FullDisk, TheTrainingsMessageIsSaidAndTheRunGoesOnOnceThereIsSpace) {
  constexpr std::size_t kBytes = 64 << 20, kLeft = 200 << 10;
  const std::string folder = fresh_folder("full_disk"), out = folder + "/run", filler = folder + "/filler";
  const SmallDisk disk(folder, kBytes);
  if (!disk.mounted()) GTEST_SKIP() << "only root mounts";
  write_text(filler, std::string(kBytes - kLeft, 'x'));
  const std::vector<std::string> command = {"run", scenario_file("small.json"), "--out", out, "--quiet"};
  const CommandResult full = longhaul(command);
  EXPECT_EQ(full.status, 1) << full.err;
  EXPECT_SAYS(full.err, "failed: ");
  EXPECT_SAYS(full.err, ".safetensors: cannot be written: No space left on device");
  std::filesystem::remove(filler);
  const CommandResult resumed = longhaul(command, {"--resume"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_TRUE(std::filesystem::exists(out + "/report.html"));
}

}  // namespace longhaul::limits_test
