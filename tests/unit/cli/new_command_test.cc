// longhaul new: whatever is chosen, what is written is a valid scenario.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/commands.h"
#include "cli/validated_scenario.h"
#include "core/base/errors.h"
#include "tests/support/files.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

class NewCommand : public testing::Test {
 protected:
  NewOptions options(const std::string& name) const {
    NewOptions options;
    options.out = folder_ + "/" + name;
    options.train = true;
    options.methods = {"diloco", "noloco"};
    options.replicas = 4;
    options.seeds = 2;
    options.network = "star";
    return options;
  }

  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path;
};

TEST_F(NewCommand, EveryChoiceIsAValidScenario) {
  int count = 0;
  for (const std::string& network : starter_networks())
    for (const bool train : {true, false})
      for (const char* method : {"ddp", "fsdp", "diloco", "noloco", "independent"}) {
        NewOptions chosen = options(std::to_string(++count) + ".json");
        chosen.network = network;
        chosen.train = train;
        chosen.methods = {method};
        if (std::string(method) == "diloco") chosen.methods.push_back("noloco");
        ASSERT_EQ(new_command(chosen), 0);
        const Scenario scenario = validated_scenario(chosen.out, {});
        EXPECT_EQ(scenario.cases.size(), 2 * chosen.methods.size());
        EXPECT_EQ(scenario.cases[0].train.has_value(), train);
        EXPECT_EQ(scenario.cases[0].replicas, 4);
      }
}

TEST_F(NewCommand, SaysWhatEachKeyMeans) {
  new_command(options("one.json"));
  std::ifstream in(folder_ + "/one.json");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  EXPECT_NE(text.find("// data-parallel copies of the model\n  \"replicas\": 4"), std::string::npos) << text;
  EXPECT_NE(text.find("//   longhaul check "), std::string::npos);
}

TEST_F(NewCommand, TrainsOnATextOfTheUsers) {
  NewOptions chosen = options("text.jsonc");
  chosen.text = {"mine/*.txt"};
  EXPECT_THROW(new_command(chosen), InputError) << "there is none";
  write_text(folder_ + "/mine/a.txt", std::string(10000, 'x'));
  ASSERT_EQ(new_command(chosen), 0);
  const DataSpec data = validated_scenario(chosen.out, {}).cases[0].train->data;
  EXPECT_EQ(data.kind, DataSpec::Kind::kText);
  EXPECT_EQ(data.globs, std::vector<std::string>{"mine/*.txt"});
  chosen.out += ".other";
  chosen.train = false;
  EXPECT_THROW(new_command(chosen), InputError) << "nothing is trained";
}

// Editors complete from it: a path that exists.
TEST_F(NewCommand, NamesTheSchema) {
  new_command(options("one.jsonc"));
  const std::string schema = validated_scenario(folder_ + "/one.jsonc", {}).written["$schema"];
  const std::string scheme = "file://";
  ASSERT_EQ(schema.rfind(scheme, 0), 0u) << schema;
  EXPECT_TRUE(fs::exists(schema.substr(scheme.size()))) << schema;
}

TEST_F(NewCommand, AFileThatIsThereStays) {
  new_command(options("one.json"));
  EXPECT_THROW(new_command(options("one.json")), InputError);
}

// NoLoCo averages in pairs: one replica has no partner.
TEST_F(NewCommand, WhatIsNoScenarioIsNotWritten) {
  NewOptions new_options = options("one.json");
  new_options.replicas = 1;
  try {
    new_command(new_options);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("nothing was written"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(fs::is_empty(folder_));
  NewOptions slip = options("slip.json");
  slip.methods = {"diloko"};
  try {
    new_command(slip);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean \"diloco\""), std::string::npos) << error.what();
  }
}

TEST(StarterQuestions, AskForWhatNoFlagSays) {
  NewOptions options;
  options.replicas = 16;
  std::istringstream answers("network\nddp, noloko\nddp noloco\n\n7x\n5\n");
  std::ostringstream asked;
  const StarterChoices choices = starter_choices(options, &answers, asked);
  EXPECT_FALSE(choices.train);
  EXPECT_EQ(choices.methods, (std::vector<std::string>{"ddp", "noloco"}));
  EXPECT_EQ(choices.replicas, 16);
  EXPECT_EQ(choices.network, "star");
  EXPECT_EQ(choices.seeds, 5);
  EXPECT_NE(asked.str().find("\"noloko\" is none of"), std::string::npos) << asked.str();
  EXPECT_NE(asked.str().find("\"7x\" is no number from 1 to"), std::string::npos) << asked.str();
  EXPECT_EQ(asked.str().find("Replicas"), std::string::npos) << asked.str();
}

TEST(StarterQuestions, AskForATextWhereReplicasAreTrained) {
  std::istringstream answers("train\na.txt b/*.txt\n");
  std::ostringstream asked;
  EXPECT_EQ(starter_choices({}, &answers, asked).text, (std::vector<std::string>{"a.txt", "b/*.txt"}));
  EXPECT_NE(asked.str().find("Text to train on"), std::string::npos) << asked.str();
}

TEST(StarterQuestions, TheEndOfTheInputMeansDefaults) {
  std::istringstream nothing;
  std::ostringstream asked;
  const StarterChoices choices = starter_choices({}, &nothing, asked);
  EXPECT_TRUE(choices.train);
  EXPECT_EQ(choices.replicas, 8);
  EXPECT_EQ(choices.seeds, 3);
}

}  // namespace
}  // namespace longhaul
