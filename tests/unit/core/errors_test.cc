#include "core/errors.h"

#include <gtest/gtest.h>

namespace longhaul {
namespace {

TEST(InputError, SaysFilePathFoundAllowedAndWhatToDo) {
  const InputError error({"", "replicas", "found 0", "an integer of at least 1", "add replicas"});
  EXPECT_STREQ(error.in_file("a.json").what(),
               "a.json: replicas: found 0; allowed: an integer of at least 1; add replicas");
}

TEST(Nearest, FindsSlipsAndNothingElse) {
  const std::vector<std::string> keys = {"inner_steps", "outer_lr", "nesterov"};
  EXPECT_EQ(nearest("inner_stepz", keys), "inner_steps");
  EXPECT_EQ(nearest("nestrov", keys), "nesterov");
  EXPECT_EQ(nearest("x", keys), "");
}

// Nearer in letters would be "cpu" and "rate".
TEST(Nearest, WordsOfOthersAreKnown) {
  EXPECT_EQ(did_you_mean("gpu", {"auto", "cpu", "cuda"}), "did you mean \"cuda\"?");
  EXPECT_EQ(did_you_mean("rtt", {"link", "rate", "delay"}),
            "did you mean \"delay\" (one way: half of the round trip)?");
  EXPECT_EQ(did_you_mean("latency", {"rate", "rtt"}), "did you mean \"rtt\"?");
  EXPECT_EQ(did_you_mean("gpu", {"cpu"}), "did you mean \"cpu\"?");
}

}  // namespace
}  // namespace longhaul
