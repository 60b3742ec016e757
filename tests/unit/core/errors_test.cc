#include "core/base/errors.h"

#include <gtest/gtest.h>

namespace longhaul::errors_test {

TEST(InputError, SaysFilePathFoundAllowedAndWhatToDo) {
  const InputError error({"", "replicas", "found 0", "an integer of at least 1", "add replicas"});
  EXPECT_STREQ(error.in_file("a.json").what(),
               "a.json: replicas: found 0; allowed: an integer of at least 1; add replicas");
}

TEST(DidYouMean, FindsSlips) {
  const std::vector<std::string> keys = {"inner_steps", "outer_lr", "nesterov", "rate"};
  EXPECT_EQ(did_you_mean("inner_stepz", keys), "did you mean \"inner_steps\"?");
  EXPECT_EQ(did_you_mean("nestrov", keys), "did you mean \"nesterov\"?");
  EXPECT_EQ(did_you_mean("raet", keys), "did you mean \"rate\"?");  // changed places: one slip
  EXPECT_EQ(did_you_mean("Inner-Steps", keys), "did you mean \"inner_steps\"?");
  EXPECT_EQ(did_you_mean("x", keys, "see the list"), "see the list");
}

// A wrong suggestion is worse than none: half of the letters are no slip, a word of three letters is another
// word, and what has another number is another thing.
TEST(DidYouMean, SuggestsNothingThatIsNoSlip) {
  EXPECT_EQ(did_you_mean("budget", {"target", "prefer"}), "");
  EXPECT_EQ(did_you_mean("dpp", {"ddp"}), "");
  EXPECT_EQ(did_you_mean("B200", {"H200", "H100", "A100"}), "");
  EXPECT_EQ(did_you_mean("A100-80GB", {"A100-40GB"}), "");
  EXPECT_EQ(did_you_mean("linux-source-6.2", {"linux-source-6.1"}), "");
  EXPECT_EQ(did_you_mean("replca1-core", {"replica0-core", "replica1-core"}),
            "did you mean \"replica1-core\"?");
  EXPECT_EQ(did_you_mean("h100-pci", {"H100", "H100-PCIe"}), "did you mean \"H100-PCIe\"?");
  EXPECT_EQ(did_you_mean("RTX4090", {"RTX-3090", "RTX-4090"}), "did you mean \"RTX-4090\"?");
}

// Nearer in letters would be "cpu" and "rate".
TEST(DidYouMean, WordsOfOthersAreKnown) {
  EXPECT_EQ(did_you_mean("gpu", {"auto", "cpu", "cuda"}), "did you mean \"cuda\"?");
  EXPECT_EQ(did_you_mean("rtt", {"link", "rate", "delay"}),
            "did you mean \"delay\" (one way: half of the round trip)?");
  EXPECT_EQ(did_you_mean("latency", {"rate", "rtt"}), "did you mean \"rtt\" (there and back)?");
  EXPECT_EQ(did_you_mean("World-Size", {"replicas", "methods"}), "did you mean \"replicas\"?");
  EXPECT_EQ(did_you_mean("gpu", {"cpu"}), "");
}

}  // namespace longhaul::errors_test
