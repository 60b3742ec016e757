// The command that a message tells to type: the arguments of the one that was typed, as a shell takes them.
#include "cli/typed_command.h"

#include <gtest/gtest.h>

#include "cli/json_differences.h"

namespace longhaul::typed_command_test {

TEST(TypedCommand, AShellReadsTheSameWords) {
  EXPECT_EQ(shell_line({"longhaul", "run", "a-b_c/d.json", "--set", "replicas=8"}),
            "longhaul run a-b_c/d.json --set replicas=8");
  EXPECT_EQ(shell_line({"a b", "it's", "", "[1, 2]", "$HOME"}), "'a b' 'it'\\''s' '' '[1, 2]' '$HOME'");
}

TEST(TypedCommand, WhatContinuesARunHasAllButWhatBeganIt) {
  const std::vector<std::string> typed = {"longhaul",    "run",         "s.json",      "--set",
                                          "seeds=[1,3]", "--overwrite", "--out",       "runs/a",
                                          "--shard",     "1/2",         "--only=train"};
  EXPECT_EQ(resuming_command(typed, "--out", "runs/a"),
            "longhaul run s.json --set 'seeds=[1,3]' --shard 1/2 --only=train --out runs/a --resume");
  EXPECT_EQ(resuming_command(typed, "--out", "runs/a", {"--only", "--shard"}),
            "longhaul run s.json --set 'seeds=[1,3]' --out runs/a --resume");
  // Without a folder, continued already, and with a name behind "--".
  EXPECT_EQ(resuming_command({"longhaul", "run", "--resume", "--", "-s.json"}, "--out", "results/s"),
            "longhaul run --out results/s --resume -- -s.json");
  EXPECT_EQ(resuming_command({"longhaul", "plan", "p.json", "-oout", "--jobs", "1"}, "--output", "out"),
            "longhaul plan p.json --jobs 1 --output out --resume");
}

TEST(JsonDifferences, NameThePathAndBothValues) {
  const Json there = {{"seeds", {1, 2}}, {"methods", {{{"name", "ddp"}, {"a", 1}}}}, {"gone", {{"x", 1}}}};
  const Json here = {{"seeds", {1, 3}}, {"methods", {{{"name", "ddp"}, {"a", 2}}}}, {"come", "y"}};
  EXPECT_EQ(differences_in_words(there, here),
            (std::vector<std::string>{"seeds ([1,2] there, [1,3] here)", "methods[0].a (1 there, 2 here)",
                                      "come (none there, \"y\" here)", "gone.x (1 there, none here)"}));
  EXPECT_TRUE(differences_in_words(there, there).empty());
}

}  // namespace longhaul::typed_command_test
