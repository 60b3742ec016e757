// What a machine does not have. A limit on the address space (ulimit -v), as batch systems set it: a training
// that cannot have what it needs says so and ends. Without the checks OpenBLAS asks for memory for ever.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "tests/integration/command.h"
#include "tests/support/said.h"
#include "tests/support/small_disk.h"

namespace longhaul::limits_test {

struct Said {
  int status = 0;
  std::string text;
};

// 137: it did not end by itself.
Said under_limit(int kilobytes, const std::string& command) {
  const std::string folder = fresh_folder("limit");
  const int status =
      std::system(("ulimit -v " + std::to_string(kilobytes) + "; timeout -s KILL 60 '" LONGHAUL_BIN_DIR "/" +
                   command + " > '" + folder + "/said' 2>&1")
                      .c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(folder + "/said")};
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
  const Said run = under_limit(200000, "longhaul' run '" + scenario_file("small.json") + "' --out '" +
                                           fresh_folder("limited") + "/run'");
  EXPECT_EQ(run.status, 2) << run.text;
  EXPECT_SAYS(run.text, "train: the address space of a process is limited to 205 MB here (ulimit -v)");
}

// What needs LibTorch takes more: `check` knows of bf16, and the trainer of the variable. A limit that is
// enough is enough.
TEST(AddressSpace, LibTorchIsCounted) {
  if (is_limited()) GTEST_SKIP();
  const std::string command =
      "longhaul' run '" + scenario_file("small.json") + "' --set train.steps=10 --out '";
  const Said bf16 =
      under_limit(700000, command + fresh_folder("limited") + "/run' --set 'train.precision=bf16'");
  EXPECT_EQ(bf16.status, 2) << bf16.text;
  EXPECT_SAYS(bf16.text, "(ulimit -v)");
  setenv("LONGHAUL_PRODUCTS", "tensors", 1);
  const Said tensors = under_limit(700000, command + fresh_folder("limited") + "/run'");
  unsetenv("LONGHAUL_PRODUCTS");
  EXPECT_EQ(tensors.status, 1) << tensors.text;
  EXPECT_SAYS(tensors.text, "libraries of LibTorch");
  EXPECT_EQ(under_limit(700000, command + fresh_folder("limited") + "/run'").status, 0);
}

// A disk that fills up in a training: the summary and the report cannot be written either, but what one has
// to read is what the training said; and once there is space, the run goes on.
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

}  // namespace longhaul::limits_test
