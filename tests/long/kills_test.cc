// Fifty kills at random moments for each method and pattern: `make test-long`. Prints how it went.
#include "tests/integration/kills.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "tests/support/every_method.h"

namespace longhaul::kills_test {

TEST(Kills, FiftyOfEachMethodEndWithTheBytesOfTheUndisturbedRun) {
  constexpr int kKills = 50;
  std::mt19937 random(7);
  for (const Json& method : every_method(5)) {
    const WholeTraining& whole = whole_training(method, 300, 7);
    const int ended = expect_whole_after_kills(whole, kKills, random);
    std::printf("%s: %.2f s undisturbed; killed %d times, ended %d times, %s\n",
                std::filesystem::path(whole.folder).filename().c_str(), whole.seconds, kKills, ended,
                HasFailure() ? "NOT the same bytes" : "always the same bytes");
    std::fflush(stdout);
  }
}

}  // namespace longhaul::kills_test
