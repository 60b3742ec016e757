// A limit on the address space (ulimit -v), as batch systems set it: a training that cannot have what it
// needs says so and ends. Without the checks OpenBLAS asks for memory for ever.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "tests/integration/command.h"

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
  const Said run = under_limit(600000, "longhaul' run '" + scenario_file("small.json") + "' --out '" +
                                           fresh_folder("limited") + "/run'");
  EXPECT_EQ(run.status, 2) << run.text;
  EXPECT_NE(run.text.find("train: the address space of a process is limited to 614 MB here (ulimit -v)"),
            std::string::npos)
      << run.text;
}

// Whatever the limit: it works, or it says what is missing, or the loader does.
TEST(AddressSpace, TheTrainerItselfEnds) {
  if (is_limited()) GTEST_SKIP();
  for (const int kilobytes : {600000, 650000, 700000, 740000}) {
    const Said version = under_limit(kilobytes, "longhaul-train' --version");
    const bool is_said = version.status == 1 && version.text.find("(ulimit -v)") != std::string::npos;
    const bool is_of_loader = version.text.find("error while loading shared libraries") != std::string::npos;
    EXPECT_TRUE(version.status == 0 || is_said || is_of_loader)
        << kilobytes << ": " << version.status << version.text;
  }
  EXPECT_EQ(under_limit(64000000, "longhaul-train' --version").status, 0);
}

}  // namespace longhaul::limits_test
