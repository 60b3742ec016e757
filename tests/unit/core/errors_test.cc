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

}  // namespace
}  // namespace longhaul
